import { parseJsonText } from './parse-json-text.ts'
/** A parsed JSON object with unchecked fields. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object: no array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Parses a JSON object; undefined for any other text. Never throws. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = parseJsonText(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
