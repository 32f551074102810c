import { isJsonObject } from './json/parse-json-text.ts'

/** The claims of a token whose signature, issuer, audience and times were checked. */
export type Claims = Readonly<Record<string, unknown>>

/** What a claim of a token must be: a string in which `*` stands for any characters, a number, a boolean, or one of several of them. */
export type ClaimCondition = string | number | boolean | readonly (string | number | boolean)[]

/** Conditions by the names of claims; a name that begins with `/` is a JSON pointer, such as `/kubernetes.io/namespace`. All must hold. */
export type ClaimConditions = Readonly<Record<string, ClaimCondition>>

/** Whether all conditions hold. A claim that is missing meets none; its case counts, and it is compared as a whole. */
export function meetsConditions(when: ClaimConditions, claims: Claims): boolean {
  return unmetClaim(when, claims) === undefined
}

/** The first claim that does not meet its condition. */
export function unmetClaim(when: ClaimConditions, claims: Claims): string | undefined {
  return Object.entries(when).find(([name, condition]) => !meets(condition, claimOf(claims, name)))?.[0]
}

/** A claim by its name, or by a JSON pointer (RFC 6901), which reads objects and no lists. Nothing that objects inherit is a claim. */
export function claimOf(claims: Claims, name: string): unknown {
  const path = name.startsWith('/') ? name.slice(1).split('/').map(unescapePointer) : [name]
  return path.reduce<unknown>(
    (value, part) => (isJsonObject(value) && Object.hasOwn(value, part) ? value[part] : undefined),
    claims,
  )
}

function unescapePointer(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}

/** A list in a token meets a condition if one of its strings does. */
function meets(condition: ClaimCondition, claim: unknown): boolean {
  const values: readonly unknown[] = Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : [claim]
  return [condition].flat().some((allowed) => values.some((value) => isAllowed(allowed, value)))
}

function isAllowed(allowed: string | number | boolean, value: unknown): boolean {
  return typeof allowed === 'string' && typeof value === 'string' ? matchesText(value, allowed) : allowed === value
}

/** Looks for the parts between the stars from left to right, each once, so that no pattern takes longer than its text is long. */
function matchesText(text: string, pattern: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) {
    return text === pattern
  }
  if (!text.startsWith(first) || !text.endsWith(last)) {
    return false
  }
  const end = text.length - last.length
  let at = first.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found === -1) {
      return false
    }
    at = found + part.length
  }
  return at <= end
}
