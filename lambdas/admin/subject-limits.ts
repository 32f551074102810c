import { type BudgetLimit, formatBudgetLimit } from '#core/budgets.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { readLimits, type SubjectLimits } from '#core/identity.ts'
import type { ApiKeyListing } from '#store/keys/api-keys.ts'

type KeyIdentity = NonNullable<ApiKeyListing['identity']>

type Wished = {
  readonly models?: readonly string[] | null | undefined
  readonly rate?: number | null | undefined
  readonly budget?: BudgetLimit | null | undefined
}

/**
 * The key of a subject has at most what its rule allows. Undefined leaves a limit as it is.
 * @throws InvalidRequestError naming what would be more.
 */
export function requireWithinRule(identity: KeyIdentity, { models, rate, budget }: Wished): void {
  const rule = readLimits(identity.limits)
  const hasMoreModels = models === null || models?.some((model) => !rule.models?.includes(model))
  const isBroader = {
    models: rule.models !== null && models !== undefined && hasMoreModels,
    rate_per_minute: rule.ratePerMinute !== null && rate !== undefined && (rate ?? Infinity) > rule.ratePerMinute,
    budget: budget !== undefined && isBroaderBudget(rule, budget),
  }
  const less = `the rule "${identity.rule}" of its issuer allows less: change the rule`
  const messages: Record<string, string> = rule.sharesBudget ? { budget: sharedBudgetMessage(rule) } : {}
  const issues = Object.entries(isBroader).flatMap(([path, isMore]) =>
    isMore ? [{ path, message: messages[path] ?? less }] : [],
  )
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
}

/** A budget that subjects share stays as the rule says: with that limit, it is counted again. */
function isBroaderBudget({ budget: allowed, sharesBudget }: SubjectLimits, wished: BudgetLimit | null): boolean {
  if (allowed === null) {
    return false
  }
  const isWithin = wished?.kind === allowed.kind && wished.amount <= allowed.amount
  return !isWithin || (sharesBudget && wished.amount !== allowed.amount)
}

function sharedBudgetMessage({ rule, budget }: SubjectLimits): string {
  return `the subjects of the rule "${rule}" share a budget: set it to ${budget && formatBudgetLimit(budget)} to count it again, or change the rule`
}
