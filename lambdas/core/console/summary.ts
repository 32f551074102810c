import { HttpError } from '../errors.ts'
import type { Budget } from '../money/budget.ts'
import type { Microcredits } from '../money/money.ts'
import { daysBefore } from '../parameters/calendar-day.ts'
import type { UsageCounter } from '../quota/usage-counter.ts'
import { addUsageSums, NO_USAGE } from '../quota/usage-counter.ts'
import type { FailedJobs, NearBudget } from './attention.ts'

/** Days that the summary holds, today included. */
const SUMMARY_DAYS = 31

/** A tenant as the summary knows it. Amounts in microcredits, times in milliseconds. */
export type SummarizedTenant = {
  readonly id: string
  readonly name: string
  readonly state: 'active' | 'suspended'
  readonly suspendedReason: string | null
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
