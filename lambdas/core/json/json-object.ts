/** A parsed JSON object whose members nobody has checked. */
export type JsonObject = Readonly<Record<string, unknown>>

/** True for a JSON object: not for an array or null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** JSON text as an object; undefined for what is no JSON, and for JSON that is no object. Never throws. */
export function parseJsonObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
