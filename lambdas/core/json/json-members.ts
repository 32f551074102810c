/** Where one top-level member of a JSON object stands in its text: `valueStart` up to, not including, `valueEnd`. */
export type MemberSpan = { readonly name: string; readonly valueStart: number; readonly valueEnd: number }

const SPACE = 0x20
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/**
 * Finds the top-level members of a text that is known to be one valid JSON object. Names are decoded: `"\u0069d"` is `id`.
 * Bytes given as text, one character for each, will do as well: all that matters to the scan is ASCII.
 */
export function* topLevelMembers(text: string): Generator<MemberSpan> {
  let depth = 0
  let name: string | undefined
  let valueStart = 0
  for (let index = nextMark(text, 0); index < text.length; index = nextMark(text, index + 1)) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      const stringStart = index
      index = closingQuote(text, stringStart)
      if (depth === 1 && name === undefined) {
        name = decodedName(text.slice(stringStart, index + 1))
      }
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth === 1) {
        // Nothing in a value is looked at but its end.
        index = closingBracket(text, index)
      } else {
        depth += 1
      }
    } else if (code === COLON) {
      valueStart = index + 1
    } else {
      if (depth === 1 && name !== undefined) {
        yield { name, ...trimmedSpan(text, valueStart, index) }
        name = undefined
      }
      depth -= code === COMMA ? 0 : 1
    }
  }
}

/** Index of the first quote, bracket, comma or colon from an index on; the length of the text when there is none. */
function nextMark(text: string, from: number): number {
  let index = from
  while (index < text.length && !isMark(text.charCodeAt(index))) {
    index += 1
  }
  return index
}

function isMark(code: number): boolean {
  return !isWhitespace(code) && (code === QUOTE || code === COMMA || code === COLON || isBracket(code))
}

/** `[` and `{` differ in one bit, and so do their ends. */
const BRACKET_BIT = 0x20

function isBracket(code: number): boolean {
  const either = code | BRACKET_BIT
  return either === OPEN_BRACE || either === CLOSE_BRACE
}

/** Index of the bracket that ends the object or list which begins at `start`; the length of the text when none does. */
function closingBracket(text: string, start: number): number {
  let depth = 1
  let index = start + 1
  for (; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = closingQuote(text, index)
    } else if (isBracket(code)) {
      depth += (code | BRACKET_BIT) === OPEN_BRACE ? 1 : -1
      if (depth === 0) {
        break
      }
    }
  }
  return index
}

/** Hardly any name has an escape, and only those need a parser. */
function decodedName(quoted: string): string {
  return quoted.includes('\\') ? String(JSON.parse(quoted)) : quoted.slice(1, -1)
}

/**
 * Index of the quote that ends the string which begins at `start`; the length of the text when none does. Looks for the first
 * quote, so that long strings cost little, and from an escaped one on at each character: a string may hold millions of them.
 */
export function closingQuote(text: string, start: number): number {
  const first = text.indexOf('"', start + 1)
  if (first === -1) {
    return text.length
  }
  if (!isEscaped(text, first)) {
    return first
  }
  let index = first + 1
  while (index < text.length && text.charCodeAt(index) !== QUOTE) {
    index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return Math.min(index, text.length)
}

/** Whether the character inside a string stands behind an odd number of backslashes: of an even one, each pair is a backslash. */
function isEscaped(text: string, index: number): boolean {
  let first = index
  while (text.charCodeAt(first - 1) === BACKSLASH) {
    first -= 1
  }
  return (index - first) % 2 === 1
}

/** Leaves the whitespace around a value to the upstream. */
function trimmedSpan(text: string, start: number, end: number): { valueStart: number; valueEnd: number } {
  let valueStart = start
  while (valueStart < end && isWhitespace(text.charCodeAt(valueStart))) {
    valueStart += 1
  }
  let valueEnd = end
  while (valueEnd > valueStart && isWhitespace(text.charCodeAt(valueEnd - 1))) {
    valueEnd -= 1
  }
  return { valueStart, valueEnd }
}

/** Below and at the space, JSON has nothing outside of strings but its four kinds of white space. */
function isWhitespace(code: number): boolean {
  return code <= SPACE
}

/**
 * Puts JSON texts in place of top-level members, each occurrence of a repeated name, and appends those that are missing.
 * @param json a JSON object.
 */
export function replaceMembers(json: string, members: ReadonlyMap<string, string>): string {
  const missing = new Map(members)
  const pieces: string[] = []
  let keptFrom = 0
  let objectEnd = json.indexOf('{') + 1
  let separator = ''
  for (const { name, valueStart, valueEnd } of topLevelMembers(json)) {
    separator = ','
    objectEnd = valueEnd
    const value = members.get(name)
    if (value !== undefined) {
      pieces.push(json.slice(keptFrom, valueStart), value)
      keptFrom = valueEnd
      missing.delete(name)
    }
  }
  const appended = Array.from(missing, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')
  pieces.push(json.slice(keptFrom, objectEnd), appended === '' ? '' : separator + appended, json.slice(objectEnd))
  return pieces.join('')
}

/**
 * Leaves top-level members out, each occurrence of a name; every other byte stays.
 * @param json a JSON object.
 */
export function withoutMembers(json: string, names: ReadonlySet<string>): string {
  let keptTo = json.indexOf('{') + 1
  const kept: string[] = []
  const head = json.slice(0, keptTo)
  for (const { name, valueEnd } of topLevelMembers(json)) {
    const member = json.slice(keptTo, valueEnd)
    keptTo = valueEnd
    if (!names.has(name)) {
      kept.push(kept.length === 0 ? member.replace(/^\s*,/, '') : member)
    }
  }
  return head + kept.join('') + json.slice(keptTo)
}

/** The first top-level name that is written twice; undefined when none is. Two parsers may read such an object differently. */
export function repeatedMember(json: string): string | undefined {
  const seen = new Set<string>()
  for (const { name } of topLevelMembers(json)) {
    if (seen.has(name)) {
      return name
    }
    seen.add(name)
  }
  return undefined
}
