import { type BudgetLimit, formatBudgetLimit, parseBudgetLimit } from './budgets.ts'
import { HttpError } from './errors.ts'
import { isJsonObject, parseJsonText } from './json/parse-json-text.ts'

/** What a claim of a token must be: a pattern, one of several, or a number or boolean by equality. */
export type ClaimCondition = string | number | boolean | readonly (string | number | boolean)[]

/** Conditions by the names of claims; a name that begins with `/` is a JSON pointer. All must hold. */
export type ClaimConditions = Readonly<Record<string, ClaimCondition>>

/** The claims of a token. */
export type Claims = Readonly<Record<string, unknown>>

/** What subjects of an issuer may do, and as whom. The first rule whose conditions hold counts. */
export type IdentityRule = {
  readonly name: string
  readonly when: ClaimConditions
  /** The id of the tenant, or a name that no other tenant has. */
  readonly tenant: string
  /** Undefined for all models. */
  readonly models?: readonly string[] | undefined
  /** Requests per minute of each subject; null for no limit. */
  readonly rate: number | null
  /** The budget of each subject, such as `5/day`. */
  readonly budget?: string | undefined
  /** A budget that all subjects of the rule share. */
  readonly budget_of_all?: string | undefined
}

/** An issuer of tokens that callers may show in place of an API key. */
export type Issuer = {
  readonly issuer: string
  readonly audience: readonly string[]
  /** Undefined where the discovery document names it. */
  readonly jwks_url?: string | undefined
  readonly rules: readonly IdentityRule[]
}

/** What functions read of the configuration to verify tokens. */
export type IdentitySettings = {
  readonly issuers: readonly Issuer[]
  /** Origins that may be private. */
  readonly trusted_origins: readonly string[]
}

/** What a rule allows a subject. */
export type SubjectLimits = {
  readonly models: readonly string[] | null
  readonly ratePerMinute: number | null
  readonly budget: BudgetLimit | null
  /** Whether all subjects of the rule share the budget. */
  readonly sharesBudget: boolean
}

/** Limits as the key of a subject keeps them. Equal limits are equal texts, whichever process writes them. */
export function writeLimits({ models, ratePerMinute, budget, sharesBudget }: SubjectLimits): string {
  return JSON.stringify([models, ratePerMinute, budget && formatBudgetLimit(budget), sharesBudget])
}

/** Reads what {@link writeLimits} wrote. */
export function readLimits(text: string): SubjectLimits {
  const [models, ratePerMinute, budget, sharesBudget] = parseJsonText(text) as WrittenLimits
  return { models, ratePerMinute, budget: budget === null ? null : parseBudgetLimit(budget), sharesBudget }
}

type WrittenLimits = readonly [readonly string[] | null, number | null, string | null, boolean]

/** What a rule allows each of its subjects. */
export function limitsOf({ models, rate, budget, budget_of_all: shared }: IdentityRule): SubjectLimits {
  const limit = budget ?? shared
  return {
    models: models ?? null,
    ratePerMinute: rate,
    budget: limit === undefined ? null : parseBudgetLimit(limit),
    sharesBudget: shared !== undefined,
  }
}

/** The first rule whose conditions all hold. */
export function matchingRule<Rule extends { readonly when: ClaimConditions }>(
  rules: readonly Rule[],
  claims: Claims,
): Rule | undefined {
  return rules.find(({ when }) => meetsConditions(when, claims))
}

/** Whether all conditions hold. A claim that is missing meets none. */
export function meetsConditions(when: ClaimConditions, claims: Claims): boolean {
  return Object.entries(when).every(([name, condition]) => meets(condition, claimOf(claims, name)))
}

/** The first claim that does not meet its condition. */
export function unmetClaim(when: ClaimConditions, claims: Claims): string | undefined {
  return Object.entries(when).find(([name, condition]) => !meets(condition, claimOf(claims, name)))?.[0]
}

/** A claim by its name, or by a JSON pointer (RFC 6901), which reads objects and no lists. */
function claimOf(claims: Claims, name: string): unknown {
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
  const allowed = Array.isArray(condition) ? condition : [condition]
  const values: readonly unknown[] = Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : [claim]
  return allowed.some((one) => values.some((value) => isAllowed(one, value)))
}

function isAllowed(allowed: string | number | boolean, value: unknown): boolean {
  return typeof allowed === 'string' && typeof value === 'string' ? matchesPattern(allowed, value) : allowed === value
}

/**
 * Whether a whole text matches a pattern, in which `*` stands for any characters. In linear time for each `*`, because the text comes from
 * a stranger: each part is looked for from where the one before has ended.
 */
export function matchesPattern(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined) {
    return pattern === text
  }
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) {
    return false
  }
  const middle = text.slice(first.length, text.length - last.length)
  let from = 0
  for (const part of rest) {
    const found = middle.indexOf(part, from)
    if (found === -1) {
      return false
    }
    from = found + part.length
  }
  return true
}

/** A valid token that no rule of its issuer allows. */
export class NoIdentityRuleError extends HttpError {
  override readonly name = 'NoIdentityRuleError'
  readonly statusCode = 403
  override readonly kind = { type: 'invalid_request_error', code: 'no_identity_rule' }
  constructor() {
    super('no identity rule')
  }

  override readonly explanation = 'the token is valid, but no rule of its issuer allows its claims'
}
