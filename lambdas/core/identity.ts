import { type BudgetLimit, formatBudgetLimit, parseBudgetLimit } from './budgets.ts'
import { type ClaimConditions, type Claims, meetsConditions } from './claims.ts'
import { HttpError } from './errors.ts'
import { parseJsonText } from './json/parse-json-text.ts'

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
  /** The name of the rule. */
  readonly rule: string
  readonly models: readonly string[] | null
  readonly ratePerMinute: number | null
  readonly budget: BudgetLimit | null
  /** Whether all subjects of the rule share the budget. */
  readonly sharesBudget: boolean
}

/** Limits as the key of a subject keeps them. Equal limits are equal texts, whichever process writes them. */
export function writeLimits({ rule, models, ratePerMinute, budget, sharesBudget }: SubjectLimits): string {
  return JSON.stringify([models, ratePerMinute, budget && formatBudgetLimit(budget), sharesBudget, rule])
}

/** Reads what {@link writeLimits} wrote. */
export function readLimits(text: string): SubjectLimits {
  const [models, ratePerMinute, budget, sharesBudget, rule] = parseJsonText(text) as WrittenLimits
  return { rule, models, ratePerMinute, budget: budget === null ? null : parseBudgetLimit(budget), sharesBudget }
}

type WrittenLimits = readonly [readonly string[] | null, number | null, string | null, boolean, string]

/** What a rule allows each of its subjects. */
export function limitsOf({ name, models, rate, budget, budget_of_all: shared }: IdentityRule): SubjectLimits {
  const limit = budget ?? shared
  return {
    rule: name,
    models: models ?? null,
    ratePerMinute: rate,
    budget: limit === undefined ? null : parseBudgetLimit(limit),
    sharesBudget: shared !== undefined,
  }
}

/** The models that both allow; null for all. */
export function commonModels(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  return one === null ? other : other === null ? one : one.filter((model) => other.includes(model))
}

/** The lower of two limits; null for none. */
export function lowerRate(one: number | null, other: number | null): number | null {
  return one === null ? other : other === null ? one : Math.min(one, other)
}

/** The first rule whose conditions all hold. */
export function matchingRule<Rule extends { readonly when: ClaimConditions }>(
  rules: readonly Rule[],
  claims: Claims,
): Rule | undefined {
  return rules.find(({ when }) => meetsConditions(when, claims))
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
