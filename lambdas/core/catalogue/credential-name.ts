import type { Channel } from './channel.ts'

/**
 * The name in `${NAME}` of a channel's `api_key`; undefined for an upstream without a key. A file separate from the schema, so
 * that functions that look up a key do not load the validation of the configuration.
 */
export function credentialName(channel: Channel): string | undefined {
  return /^\$\{(.+)\}$/.exec(channel.api_key)?.[1]
}
