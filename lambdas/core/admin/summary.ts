import { type Budget, budgetAt } from '../budgets.ts'
import { HttpError } from '../errors.ts'
import type { Microcredits } from '../money.ts'
import { addUsageSums, daysBefore, NO_USAGE, type UsageCounter } from '../pricing/usage.ts'

/** Days that the summary holds, today included. */
const SUMMARY_DAYS = 31

/** A tenant as the summary knows it. Amounts in microcredits, times in milliseconds. */
export type SummarizedTenant = {
  readonly id: string
  readonly name: string
  readonly state: 'active' | 'suspended'
  /** Null for an active tenant. */
  readonly suspension: { readonly at: number; readonly by: string; readonly reason: string | null } | null
  readonly createdAt: number
  readonly balance: Readonly<Record<'available' | 'held' | 'spent' | 'granted', Microcredits>>
  readonly openJobs: { readonly count: number; readonly max: number | null }
  readonly budget: Budget | null
  /** The balance below which an alert is sent. */
  readonly lowBalance: Microcredits | null
  /** What the tenant had spent when its usage was read; null before the first complete reading, and with too many counters to read. */
  readonly countedSpent: Microcredits | null
  /** When its usage was last read, in Unix milliseconds; left out before. */
  readonly countedAt?: number
  /** Left out where none failed. */
  readonly failedJobs?: FailedJobs
  /** Budgets of its keys; left out where all have room. */
  readonly nearBudgets?: readonly NearBudget[]
}

/** The usage of one day, by tenant. */
export type DayUsage = ReadonlyMap<string, readonly UsageCounter[]>

/** What the pages over all tenants show. */
export type Summary = {
  /** When it was written, in Unix milliseconds. */
  readonly asOf: number
  /** By id. */
  readonly tenants: readonly SummarizedTenant[]
  /** By day, UTC `yyyy-mm-dd`, of the last 31 days. */
  readonly days: ReadonlyMap<string, DayUsage>
}

/** The stage is new, or the console was just switched on: Reconcile writes the summary each minute. */
export class SummaryNotWrittenError extends HttpError {
  override readonly name = 'SummaryNotWrittenError'
  readonly statusCode = 503
  override readonly retryAfterSeconds = 30
  constructor() {
    super('the summary of all tenants is not written yet: try again in a minute')
  }
}

/** The first day of a summary that is written today. */
export function firstSummaryDay(today: string): string {
  return daysBefore(today, SUMMARY_DAYS - 1)
}

/** Names of tenants in one sentence; the rest is a number. */
const NAMED_MAX = 5

/** Says which tenants have spent something that the summary does not hold, or not completely; null where there is none. */
export function leftOutOf({ tenants }: Pick<Summary, 'tenants'>): string | null {
  const ids = tenants
    .filter(({ countedSpent, balance }) => countedSpent === null && balance.spent !== 0n)
    .map(({ id }) => id)
  if (ids.length === 0) {
    return null
  }
  const more = ids.length > NAMED_MAX ? ` and ${ids.length - NAMED_MAX} more` : ''
  return `usage of ${ids.slice(0, NAMED_MAX).join(', ')}${more}, not read completely: choose the tenant, or npm run admin -- usage`
}

/** Counters of a tenant and a day that are kept one by one; those above are one row each for all that is left. */
const OTHER = 'other'

/**
 * The counters of one tenant on one day in at most `rowsMax` rows: the dearest one by one, the rest as one row. Sums stay exact.
 */
export function mergeCounters(counters: readonly UsageCounter[], rowsMax: number): readonly UsageCounter[] {
  if (counters.length <= rowsMax) {
    return counters
  }
  const dearest = counters.toSorted((left, right) => (left.cost === right.cost ? 0 : left.cost > right.cost ? -1 : 1))
  const day = counters[0]?.day ?? ''
  const rest = dearest.slice(rowsMax - 1).reduce((sum, counter) => addUsageSums(sum, counter), NO_USAGE)
  return [...dearest.slice(0, rowsMax - 1), { day, keyId: OTHER, operation: OTHER, model: OTHER, ...rest }]
}

/** What needs a person. */
export type Attention = {
  readonly kind:
    | 'failing_jobs'
    | 'failing_requests'
    | 'budget'
    | 'low_balance'
    | 'breaker'
    | 'channel_disabled'
    | 'suspended'
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
  readonly suspension: { readonly reason: string | null } | null
  readonly balance: { readonly available: Microcredits; readonly held: Microcredits }
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
  const { id, name, state, suspension, balance, lowBalance, failedJobs, nearBudgets = [] } = tenant
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
    found.push({ ...spentBudget(`the budget ${budgetId} of ${name}`, ofKey), ...about, target: budgetId })
  }
  // As for the alert: otherwise each large reservation would fall below the mark for a moment.
  if (lowBalance !== null && balance.available + balance.held < lowBalance) {
    const level = balance.available <= 0n ? 'critical' : 'warning'
    found.push({ kind: 'low_balance', level, message: `the balance of ${name} is below its mark`, ...about })
  }
  if (state === 'suspended') {
    const reason = suspension?.reason ? `: ${suspension.reason}` : ''
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
