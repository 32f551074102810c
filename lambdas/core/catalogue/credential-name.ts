import type { Channel } from './channel.ts'

/**
 * The name inside `${NAME}`, by which the key is looked up; undefined for an upstream that needs none.
 * Apart from the schema, so that functions which look a key up do not load the whole of the configuration's rules.
 */
export function credentialName(channel: Channel): string | undefined {
  return /^\$\{(.+)\}$/.exec(channel.api_key)?.[1]
}
