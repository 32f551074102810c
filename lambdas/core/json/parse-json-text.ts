import { JsonScanner, MORE, NAME, OPEN, OPEN_BRACE, SCALAR } from './json-scanner.ts'

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
  if (!text.includes('\\')) {
    return false
  }
  const scanner = new JsonScanner().push(text)
  for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
    if (token === NAME && scanner.hasEscape) {
      return true
    }
  }
  return false
}

/** An object or a list that is being read. */
type Level = {
  readonly isObject: boolean
  readonly fields: [string, unknown][]
  readonly values: unknown[]
  name: string
}

/** Reads valid JSON name by name. Values without names are parsed, those that stand in a list side by side all at once. */
function readByName(text: string): unknown {
  const scanner = new JsonScanner().push(text)
  const levels: Level[] = [{ isObject: false, fields: [], values: [], name: '' }]
  let runStart = -1
  let runEnd = 0
  for (let token = scanner.next(); token !== MORE; token = scanner.next()) {
    const level = levels.at(-1)
    if (token === NAME || level === undefined) {
      Object.assign(level ?? {}, { name: scanner.name })
    } else if (token === SCALAR && !level.isObject) {
      runStart = runStart === -1 ? scanner.start : runStart
      runEnd = scanner.end
    } else if (token === SCALAR) {
      level.fields.push([level.name, parseLeaves(scanner.text ?? '')[0]])
    } else {
      pushAll(level.values, runStart === -1 ? [] : parseLeaves(text.slice(runStart, runEnd)))
      runStart = -1
      if (token === OPEN) {
        levels.push({ isObject: scanner.code === OPEN_BRACE, fields: [], values: [], name: '' })
      } else {
        levels.pop()
        put(levels.at(-1), builtOf(level))
      }
    }
  }
  return levels[0]?.values[0]
}

/** Of a repeated name the last value counts, and `__proto__` is a name as any other: as `JSON.parse` has it. */
function builtOf({ isObject, fields, values }: Level): unknown {
  return isObject ? Object.fromEntries(fields) : values
}

function put(level: Level | undefined, value: unknown): void {
  if (level?.isObject === true) {
    level.fields.push([level.name, value])
  } else {
    level?.values.push(value)
  }
}

/** Values may be a million, so they are no arguments. */
function pushAll(list: unknown[], values: readonly unknown[]): void {
  for (const value of values) {
    list.push(value)
  }
}

function parseLeaves(texts: string): readonly unknown[] {
  // biome-ignore lint/plugin: values without names.
  return JSON.parse(`[${texts}]`)
}

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
