import { closingQuote, isColonAt, JsonScan } from './json-scan.ts'

/**
 * As `JSON.parse`, for any text. V8 reads an escaped name wrongly when an earlier object of the process had a name of the same place whose
 * characters are those of the escape: after `{"q":1,"\\":1}`, the name `"\u006e"` of `{"q":1,"\u006e":8}` becomes a backslash
 * (github.com/nodejs/node/issues/63785). So one client could change what the gateway reads of another's body, or hide a field that the
 * upstream obeys. A text with an escaped name is read field by field; nearly no text has one (docs/decisions/0121).
 * @throws SyntaxError for a text that is not JSON; RangeError for one with an escaped name and thousands of levels.
 */
export function parseJsonText(text: string): unknown {
  // biome-ignore lint/plugin: this is the one place, and it checks the syntax of the whole text.
  const value: unknown = JSON.parse(text)
  return hasEscapedName(text) ? readValue(new JsonScan(text)) : value
}

/** Whether a name of any object has an escape. Takes linear time; a text without a backslash is searched for one, and no more. */
function hasEscapedName(text: string): boolean {
  let backslash = text.indexOf('\\')
  while (backslash !== -1) {
    // Backslashes stand in strings alone, and this one is the first of its string.
    const end = closingQuote(text, backslash - 1) + 1
    if (isColonAt(text, end)) {
      return true
    }
    backslash = text.indexOf('\\', end)
  }
  return false
}

function readValue(scan: JsonScan): unknown {
  const kind = scan.nextKind()
  if (kind === 'object') {
    return readObject(scan)
  }
  return kind === 'list' ? readList(scan) : readLeaf(scan)
}

function readObject(scan: JsonScan): object {
  const fields: [string, unknown][] = []
  scan.index += 1
  while (!scan.isOver()) {
    fields.push([scan.readName(), readValue(scan)])
    scan.skipComma()
  }
  // Of a repeated name the last value counts, and `__proto__` is a name as any other: as `JSON.parse` has it.
  return Object.fromEntries(fields)
}

function readList(scan: JsonScan): unknown[] {
  const values: unknown[] = []
  scan.index += 1
  while (!scan.isOver()) {
    values.push(readValue(scan))
    scan.skipComma()
  }
  return values
}

function readLeaf(scan: JsonScan): unknown {
  const start = scan.index
  scan.skipValue()
  // biome-ignore lint/plugin: a value without names.
  return JSON.parse(scan.text.slice(start, scan.index))
}
