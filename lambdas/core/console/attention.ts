import { type Budget, budgetAt } from '../money/budget.ts'
import type { Microcredits } from '../money/money.ts'

/** What needs a person. */
export type Attention = {
  readonly kind: 'failing_jobs' | 'budget' | 'low_balance' | 'breaker' | 'channel_disabled' | 'suspended'
  readonly level: 'warning' | 'critical'
  readonly message: string
  readonly tenant: { readonly id: string; readonly name: string } | null
  readonly target: string | null
}

/** Video jobs of one tenant that failed in this hour and in the hour before; cancelled and deleted ones do not count. */
export type FailedJobs = {
  readonly count: number
  /** The begin of the hour before, in Unix milliseconds. */
  readonly since: number
  readonly latestJobId: string
}

/** A budget of a key that is nearly or wholly spent. */
export type NearBudget = { readonly tenantId: string; readonly budgetId: string; readonly percent: number }

/** What is known of a tenant that may need a person. Amounts in microcredits. */
type WatchedTenant = {
  readonly id: string
  readonly name: string
  readonly state: 'active' | 'suspended'
  readonly suspendedReason: string | null
  readonly balance: { readonly available: Microcredits }
  readonly budget: Budget | null
  readonly lowBalance: Microcredits | null
  readonly failedJobs?: FailedJobs | undefined
  readonly nearBudgets?: readonly NearBudget[] | undefined
}

/** Percent of its amount from which on a budget needs a person. */
const BUDGET_PERCENT = 80

/** One or two failures in an hour are no pattern. */
const FAILED_JOBS = { warning: 3, critical: 20 }

/** A budget of a key at 80 % or more; undefined for any other. */
export function nearBudget(
  { tenantId, budgetId, budget }: Omit<NearBudget, 'percent'> & { readonly budget: Budget },
  nowMilliseconds: number,
): NearBudget | undefined {
  const percent = spentPercent(budget, nowMilliseconds)
  return percent < BUDGET_PERCENT ? undefined : { tenantId, budgetId, percent }
}

/** How much of a budget is spent, in whole percent. A budget of zero allows nothing, so nothing of it is ever spent. */
function spentPercent(stored: Budget, nowMilliseconds: number): number {
  const { amount, spent } = budgetAt(stored, nowMilliseconds)
  return amount > 0n ? Number((spent * 100n) / amount) : 0
}

/** What needs a person at one tenant. */
export function attentionOf(tenant: WatchedTenant, nowMilliseconds: number): readonly Attention[] {
  const { id, name, state, suspendedReason, balance, lowBalance, failedJobs, nearBudgets = [] } = tenant
  const about = { tenant: { id, name }, target: null }
  const percent = tenant.budget === null ? 0 : spentPercent(tenant.budget, nowMilliseconds)
  const found: Attention[] = []
  if (failedJobs !== undefined && failedJobs.count >= FAILED_JOBS.warning) {
    found.push({ ...failingJobs(name, failedJobs), ...about, target: failedJobs.latestJobId })
  }
  if (percent >= BUDGET_PERCENT) {
    found.push({ ...spentBudget(`the budget of ${name}`, percent), ...about })
  }
  for (const { budgetId, percent: ofKey } of nearBudgets) {
    found.push({ ...spentBudget(`the budget of key ${budgetId} of ${name}`, ofKey), ...about, target: budgetId })
  }
  if (lowBalance !== null && balance.available < lowBalance) {
    const level = balance.available <= 0n ? 'critical' : 'warning'
    found.push({ kind: 'low_balance', level, message: `the balance of ${name} is below its mark`, ...about })
  }
  if (state === 'suspended') {
    const reason = suspendedReason === null ? '' : `: ${suspendedReason}`
    found.push({ kind: 'suspended', level: 'warning', message: `${name} is suspended${reason}`, ...about })
  }
  return found
}

type Matter = Pick<Attention, 'kind' | 'level' | 'message'>

function failingJobs(name: string, { count, since }: FailedJobs): Matter {
  const hour = new Date(since).toISOString().slice('yyyy-mm-ddT'.length, 'yyyy-mm-ddThh:mm'.length)
  return {
    kind: 'failing_jobs',
    level: count >= FAILED_JOBS.critical ? 'critical' : 'warning',
    message: `${count} video jobs of ${name} have failed since ${hour} UTC`,
  }
}

function spentBudget(whose: string, percent: number): Matter {
  return {
    kind: 'budget',
    level: percent >= 100 ? 'critical' : 'warning',
    message: `${percent} % of ${whose} is spent`,
  }
}
