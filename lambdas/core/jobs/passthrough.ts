/** A JSON number given as its text, so that a decimal such as `5.04` reaches the client exactly as it was computed. */
export type RawNumber = { readonly rawJson: string }

/** What the service may inject: every injected member of the interface is a scalar. */
type InjectedValue = string | number | boolean | null | RawNumber

/** Injected members by name, in the order in which they are appended. A member that is undefined is not injected. */
export type InjectedMembers = Readonly<Record<string, InjectedValue | undefined>>

/** An injected value that has no JSON text: a number that is not finite, or a raw number that is not a JSON number. */
export class InvalidInjectedValueError extends Error {
  override readonly name = 'InvalidInjectedValueError'
}

/**
 * Writes the injected members into an upstream's answer without touching any other byte of it: a member of that name gets
 * the injected value in its place (every occurrence, should the upstream repeat a name), the others follow the last member.
 * Numbers such as `5.0` or integers above 2^53, key order, escapes and whitespace therefore reach the client as they came.
 *
 * Text that is not exactly one JSON object yields the injected members alone. Linear in the length of the text, whatever
 * its nesting.
 * @throws InvalidInjectedValueError for an injected number that cannot be written as JSON; never because of the upstream.
 */
export function spliceInjected(upstreamText: string | undefined, injected: InjectedMembers): string {
  const pending = encodeMembers(injected)
  if (upstreamText === undefined || !isJsonObject(upstreamText)) {
    return `{${joinMembers(pending)}}`
  }
  const pieces: string[] = []
  let keptFrom = 0
  let objectEnd = upstreamText.indexOf('{') + 1
  let separator = ''
  const replaced = new Set<string>()
  for (const member of topLevelMembers(upstreamText)) {
    separator = ','
    objectEnd = member.valueEnd
    const value = pending.get(member.name)
    if (value !== undefined) {
      pieces.push(upstreamText.slice(keptFrom, member.valueStart), value)
      keptFrom = member.valueEnd
      replaced.add(member.name)
    }
  }
  for (const name of replaced) {
    pending.delete(name)
  }
  const appended = pending.size === 0 ? '' : separator + joinMembers(pending)
  pieces.push(upstreamText.slice(keptFrom, objectEnd), appended, upstreamText.slice(objectEnd))
  return pieces.join('')
}

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function encodeMembers(injected: InjectedMembers): Map<string, string> {
  const encoded = new Map<string, string>()
  for (const [name, value] of Object.entries(injected)) {
    if (value !== undefined) {
      encoded.set(name, encodeValue(name, value))
    }
  }
  return encoded
}

function encodeValue(name: string, value: InjectedValue): string {
  const text = typeof value === 'object' && value !== null ? value.rawJson : JSON.stringify(value)
  const isNumber = typeof value === 'number' || (typeof value === 'object' && value !== null)
  if (isNumber && !JSON_NUMBER.test(text)) {
    throw new InvalidInjectedValueError(`"${name}" is not a JSON number`)
  }
  return text
}

function joinMembers(encoded: ReadonlyMap<string, string>): string {
  return Array.from(encoded, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')
}

/** The engine's own parser is the judge of validity (and does not recurse), so that the scanner below may trust the text. */
function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

type MemberSpan = { readonly name: string; readonly valueStart: number; readonly valueEnd: number }

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d

/** Finds the top-level members of a text that is known to be one valid JSON object. Names are decoded: `"\u0069d"` is `id`. */
function* topLevelMembers(text: string): Generator<MemberSpan> {
  let depth = 0
  let name: string | undefined
  let valueStart = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      const stringStart = index
      index = closingQuote(text, stringStart)
      if (depth === 1 && name === undefined) {
        name = String(JSON.parse(text.slice(stringStart, index + 1)))
      }
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1
    } else if (code === COLON && depth === 1) {
      valueStart = index + 1
    } else if (code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (depth === 1 && name !== undefined) {
        yield { name, ...trimmedSpan(text, valueStart, index) }
        name = undefined
      }
      depth -= code === COMMA ? 0 : 1
    }
  }
}

/** Index of the quote that ends the string which begins at `start`. */
function closingQuote(text: string, start: number): number {
  let index = start + 1
  while (index < text.length && text.charCodeAt(index) !== QUOTE) {
    index += text.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return index
}

/** Leaves the whitespace around a value to the upstream. */
function trimmedSpan(text: string, start: number, end: number): { valueStart: number; valueEnd: number } {
  let valueStart = start
  while (valueStart < end && isJsonWhitespace(text.charCodeAt(valueStart))) {
    valueStart += 1
  }
  let valueEnd = end
  while (valueEnd > valueStart && isJsonWhitespace(text.charCodeAt(valueEnd - 1))) {
    valueEnd -= 1
  }
  return { valueStart, valueEnd }
}

/** Space, tab, line feed and carriage return, the four that JSON knows. */
function isJsonWhitespace(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}
