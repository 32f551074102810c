import { replaceFields } from '../json/json-fields.ts'

const USAGE_WANTED = new Map([['include_usage', 'true']])

/**
 * `stream_options` with the wish for the usage, by which a stream is billed, whatever the client wished.
 * @param options JSON text of the client's own, if it has any; null says as little as nothing.
 */
export function askForUsage(options: string | undefined): string {
  return replaceFields(options?.startsWith('{') ? options : '{}', USAGE_WANTED)
}
