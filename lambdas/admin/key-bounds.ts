import { type BudgetLimit, formatBudgetLimit, PERIOD_KINDS } from '#core/budgets.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { readLimits, type SubjectLimits } from '#core/identity.ts'
import { RATE_PER_MINUTE_DEFAULT } from '#core/limits.ts'
import type { ApiKeyListing } from '#store/keys/api-keys.ts'
import type { Table } from '#store/table/table.ts'
import { getTenant } from '#store/tenants/tenants.ts'

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

/**
 * Keeps what an admin of a tenant gives its keys within what the tenant has: the budget of the tenant, and the rate that keys have by default.
 * A budget of a longer period may be larger, because that of the tenant begins again meanwhile.
 * @throws InvalidRequestError naming the field.
 */
export async function requireWithinTenant(
  { rate, budget }: Omit<Wished, 'models'>,
  { tenantId, table }: { readonly tenantId: string; readonly table: Table },
): Promise<void> {
  if (rate === null || (rate !== undefined && rate > RATE_PER_MINUTE_DEFAULT)) {
    const message = `an admin of a tenant gives its keys at most ${RATE_PER_MINUTE_DEFAULT} requests per minute: ask an owner for more`
    throw new InvalidRequestError([{ path: 'rate_per_minute', message }])
  }
  const bound = budget && (await getTenant(table, tenantId)).budget
  if (budget && bound) {
    const isNoLonger = PERIOD_KINDS.indexOf(budget.kind) <= PERIOD_KINDS.indexOf(bound.period.kind)
    if (isNoLonger && budget.amount > bound.amount) {
      const whole = formatBudgetLimit({ amount: bound.amount, kind: bound.period.kind })
      throw new InvalidRequestError([
        { path: 'budget', message: `the tenant itself has ${whole}: use no more than that` },
      ])
    }
  }
}
