import { CLOSE, JsonScanner, MORE, NAME, OPEN, OPEN_BRACE, SCALAR } from './json-scanner.ts'

/**
 * As `JSON.parse`, for any text. V8 reads an escaped name wrongly when an earlier object of the process had a name of the same place whose
 * characters are those of the escape: after `{"q":1,"\\":1}`, the name `"\u006e"` of `{"q":1,"\u006e":8}` becomes a backslash
 * (github.com/nodejs/node/issues/63785). So one client could change what the gateway reads of another's body, or hide a field that the
 * upstream obeys. A text with an escaped name is read field by field; nearly no text has one (docs/decisions/0121).
 * @throws SyntaxError for a text that is not JSON.
 */
export function parseJsonText(text: string): unknown {
  // biome-ignore lint/plugin: this is the one place, and it checks the syntax of the whole text.
  const value: unknown = JSON.parse(text)
  return hasEscapedName(text) ? readByName(text) : value
}

/** The value of a text; undefined for none, and for one that is not JSON. */
export function parsedOrUndefined(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : parseJsonText(text)
  } catch {
    return undefined
  }
}

/** Whether a name of any object has an escape. A text without a backslash is searched for one, and no more. */
function hasEscapedName(text: string): boolean {
  const scanner = new JsonScanner(text.includes('\\') ? text : '')
  for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
    if (token === NAME && scanner.hasEscape) {
      return true
    }
  }
  return false
}

/** An object or a list that is being read: its fields, or its elements. */
type Level = { readonly fields: [string, unknown][] | undefined; readonly values: unknown[]; name: string }

/** Reads valid JSON name by name. Values without names are parsed, those that stand in a list side by side all at once. */
function readByName(text: string): unknown {
  const scanner = new JsonScanner(text)
  let level: Level = { fields: undefined, values: [], name: '' }
  const around: Level[] = []
  let runStart = -1
  let runEnd = 0
  const put = (value: unknown) => level.fields?.push([level.name, value]) ?? level.values.push(value)
  for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
    if (token === NAME) {
      level.name = scanner.name
      continue
    }
    if (token === SCALAR) {
      runStart = runStart === -1 ? scanner.start : runStart
      runEnd = scanner.end
    }
    if (runStart !== -1 && (token !== SCALAR || level.fields !== undefined)) {
      // biome-ignore lint/plugin: values without names.
      JSON.parse(`[${text.slice(runStart, runEnd)}]`).forEach(put)
      runStart = -1
    }
    if (token === OPEN) {
      around.push(level)
      level = { fields: scanner.code === OPEN_BRACE ? [] : undefined, values: [], name: '' }
    } else if (token === CLOSE) {
      // Of a repeated name the last value counts, and `__proto__` is a name as any other: as `JSON.parse` has it.
      const value = level.fields === undefined ? level.values : Object.fromEntries(level.fields)
      level = around.pop() ?? level
      put(value)
    }
  }
  return level.values[0]
}

/** A JSON value as text. `String` throws for an object with a field `toString`. */
export function asText(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** A parsed JSON object with unchecked fields. */
export type JsonObject = Readonly<Record<string, unknown>>

/** Whether a value is a JSON object: no array and not null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON objects in a list; none of any other value. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
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
