import { replaceMembers } from './json-members.ts'
import { parseJsonObject } from './json-object.ts'

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
  const members = encodeMembers(injected)
  return replaceMembers(upstreamText !== undefined && isObjectText(upstreamText) ? upstreamText : '{}', members)
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

/** The engine's own parser is the judge of validity (and does not recurse), so that the scanner below may trust the text. */
function isObjectText(text: string): boolean {
  return parseJsonObject(text) !== undefined
}
