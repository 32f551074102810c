import { replaceFields } from '../json/json-fields.ts'

const USAGE_WANTED: ReadonlyMap<string, string> = new Map([['include_usage', 'true']])

/**
 * Asks for the usage in `stream_options`, whatever the client asked for, because a stream is billed by its usage.
 * @param options the client's own, as JSON; undefined and `null` are the same.
 */
export function askForUsage(options: string | undefined): string {
  return replaceFields(options?.startsWith('{') ? options : '{}', USAGE_WANTED)
}
