import { HttpError } from './errors.ts'
import { formatCredits, type Microcredits, parseCredits } from './money.ts'

/** How often a budget starts again; `total` never does. */
export const PERIOD_KINDS = ['day', 'month', 'total'] as const
export type PeriodKind = (typeof PERIOD_KINDS)[number]

/** A period of a budget, in UTC: `2026-11-22`, `2026-11` or `total`. Ids of one kind sort by time. */
export type BudgetPeriod = { readonly kind: PeriodKind; readonly id: string }

/**
 * A limit on what may be spent and held in a period. A condition of the table cannot add, so the sums that conditions need are kept
 * beside the amounts, and every change moves them alike.
 */
export type Budget = {
  /** What may be spent in one period. */
  readonly amount: Microcredits
  /** The latest period in which money moved. */
  readonly period: BudgetPeriod
  /** Settled in that period. */
  readonly spent: Microcredits
  /** Held now, whenever it was reserved. */
  readonly held: Microcredits
  /** amount - spent - held. Negative after an overdraft or a lowered amount. */
  readonly left: Microcredits
  /** amount - held: what a new period would have left. */
  readonly free: Microcredits
}

/** Amounts that one transaction moves. Bigints, because sums and differences of amounts are not branded. */
export type MoneyMove = {
  /** Reserved. */
  readonly locked: bigint
  /** Reservations that are settled or released. */
  readonly closed: bigint
  /** Billed by those settlements. */
  readonly billed: bigint
}

/** The period of a time. @param nowMilliseconds Unix time. */
export function periodAt(kind: PeriodKind, nowMilliseconds: number): BudgetPeriod {
  const day = new Date(nowMilliseconds).toISOString()
  switch (kind) {
    case 'day':
      return { kind, id: day.slice(0, 'yyyy-mm-dd'.length) }
    case 'month':
      return { kind, id: day.slice(0, 'yyyy-mm'.length) }
    case 'total':
      return { kind, id: 'total' }
    default:
      return kind satisfies never
  }
}

/** Unix seconds at which the next period begins; null for a budget that never starts again. */
export function periodEnd({ kind, id }: BudgetPeriod): number | null {
  const [year = 0, month = 1, day = 1] = id.split('-').map(Number)
  switch (kind) {
    case 'day':
      return Date.UTC(year, month - 1, day + 1) / 1000
    case 'month':
      return Date.UTC(year, month) / 1000
    case 'total':
      return null
    default:
      return kind satisfies never
  }
}

/** Unix milliseconds at which a period begins; 0 for a budget that never starts again. */
export function periodStart({ kind, id }: BudgetPeriod): number {
  return kind === 'total' ? 0 : Date.parse(id)
}

/** How far the clocks of two processes may be apart: each may be five minutes off. */
const CLOCK_SKEW_MILLISECONDS = 10 * 60 * 1000

/** The later one of two periods in which processes may be by their clocks; undefined where all are in one. */
export function laterPeriodNear(kind: PeriodKind, nowMilliseconds: number): BudgetPeriod | undefined {
  const slowest = periodAt(kind, nowMilliseconds - CLOCK_SKEW_MILLISECONDS)
  const fastest = periodAt(kind, nowMilliseconds + CLOCK_SKEW_MILLISECONDS)
  return slowest.id === fastest.id ? undefined : fastest
}

/**
 * When money moves, given the last known periods of the budgets that it moves in: now, or the beginning of a period that a process with a
 * faster clock has begun. With this time on ledger rows and usage counters, they agree with the budgets about the period.
 */
export function movingTime(known: readonly (BudgetPeriod | undefined)[], nowMilliseconds: number): number {
  const starts = known.map((period) => (period === undefined ? 0 : periodStart(period)))
  const isNear = (start: number) => start - nowMilliseconds <= CLOCK_SKEW_MILLISECONDS
  return Math.max(nowMilliseconds, ...starts.filter(isNear))
}

/**
 * The period in which money moves now, given the last known period of the budget. If a process with a faster clock has begun a later
 * period, that period counts: a period that has begun never goes back, or its room could be used twice.
 */
export function movingPeriod(known: BudgetPeriod, nowMilliseconds: number): BudgetPeriod {
  const current = periodAt(known.kind, nowMilliseconds)
  return current.id > known.id ? current : known
}

/** The budget as it counts at a time: a new period has spent nothing, and holds stay. */
export function budgetAt(budget: Budget, nowMilliseconds: number): Budget {
  const period = movingPeriod(budget.period, nowMilliseconds)
  const isSame = period.id === budget.period.id
  return isSame ? budget : { ...budget, period, spent: 0n as Microcredits, left: budget.free }
}

/** What a move needs in a budget: money that comes back counts before money that is locked. Negative if more comes back. */
export function neededOf({ locked, closed, billed }: MoneyMove): bigint {
  return locked - (closed - billed)
}

/** Whether a budget allows a move at a time. Only a move that locks money can be refused. */
export function allowsMove(budget: Budget, move: MoneyMove, nowMilliseconds: number): boolean {
  return move.locked === 0n || budgetAt(budget, nowMilliseconds).left >= neededOf(move)
}

/**
 * Whether a transaction composed with `known` was refused because the budget has moved on: it began another period, or was set,
 * cleared or given another kind of period. The transaction is then composed again with `actual`. Undefined stands for no budget.
 */
export function isOutdated(
  known: BudgetPeriod | undefined,
  actual: BudgetPeriod | undefined,
  nowMilliseconds: number,
): boolean {
  if (known === undefined || actual === undefined) {
    return known !== actual
  }
  const [expected, needed] = [known, actual].map((period) => movingPeriod(period, nowMilliseconds).id)
  const begins = (period: BudgetPeriod) => movingPeriod(period, nowMilliseconds).id !== period.id
  return expected !== needed || begins(known) !== begins(actual)
}

/** What may be spent in one period. */
export type BudgetLimit = { readonly amount: Microcredits; readonly kind: PeriodKind }

/** A string is not a limit such as `5/month`. */
export class InvalidBudgetError extends Error {
  override readonly name = 'InvalidBudgetError'
}

/**
 * Reads a limit such as `5/month`, `0.25/day` or `100/total`.
 * @throws InvalidBudgetError for a string of another form, InvalidAmountError for its amount.
 */
export function parseBudgetLimit(text: string): BudgetLimit {
  const [amount = '', period, ...rest] = text.split('/')
  if (period === undefined || rest.length > 0) {
    throw new InvalidBudgetError(`"${text}" is not a budget: write credits per period, such as 5/month`)
  }
  return { amount: parseCredits(amount), kind: parsePeriodKind(period) }
}

/** Reads the kind of a period. @throws InvalidBudgetError. */
export function parsePeriodKind(text: string): PeriodKind {
  const kind = PERIOD_KINDS.find((known) => known === text)
  if (kind === undefined) {
    throw new InvalidBudgetError(`"${text}" is not a period: use ${PERIOD_KINDS.slice(0, -1).join(', ')} or total`)
  }
  return kind
}

/** Writes a limit as {@link parseBudgetLimit} reads it. */
export function formatBudgetLimit({ amount, kind }: BudgetLimit): string {
  return `${formatCredits(amount)}/${kind}`
}

/** The percentages of a budget at which its tenant and the operators are alerted, unless the tenant has others. */
export const ALERT_THRESHOLDS: readonly number[] = [50, 80, 100]

/** Bounds of a threshold in percent. Spending can exceed a budget by an overdraft or after the amount was lowered. */
export const ALERT_THRESHOLD_PERCENT = { min: 1, max: 200 } as const

/** A tenant has at most this many thresholds. */
export const ALERT_THRESHOLDS_MAX = 10

/** The thresholds that the spending of a period has reached, from low to high. Nothing is reached before something is spent. */
export function crossedThresholds(
  { amount, spent }: Pick<Budget, 'amount' | 'spent'>,
  thresholds: readonly number[],
): number[] {
  const isCrossed = (percent: number) => spent > 0n && spent * 100n >= amount * BigInt(percent)
  return thresholds.filter(isCrossed).toSorted((left, right) => left - right)
}

/** Why a budget refused a reservation. */
export type BudgetShortfall = {
  /** Whose budget. */
  readonly of: 'api key' | 'tenant'
  /** The amount to reserve. */
  readonly needed: Microcredits
  /** Left in the period; negative after an overdraft or a lowered amount. */
  readonly left: Microcredits
  readonly period: BudgetPeriod
  /** What the client can do, such as `set max_tokens to at most 12`. */
  readonly advice?: string | undefined
}

/** The reservation exceeds what the budget of the key or of its tenant has left in this period. Nothing was reserved. */
export class BudgetExceededError extends HttpError {
  override readonly name = 'BudgetExceededError'
  readonly statusCode = 402
  override readonly kind = { type: 'insufficient_quota', code: 'budget_exceeded' }
  /** Undefined if the budget is gone from the table. */
  readonly shortfall: BudgetShortfall | undefined
  constructor(shortfall?: BudgetShortfall) {
    super('budget exceeded')
    this.shortfall = shortfall
  }
}

const ADJECTIVES = { day: 'daily ', month: 'monthly ', total: '' } as const

/** Explains a shortfall to a person. */
export function budgetShortfallMessage({ of, needed, left, period, advice }: BudgetShortfall): string {
  // Keys and subjects may share a budget, so this one need not be the key's own.
  const budget = `${ADJECTIVES[period.kind]}budget ${of === 'tenant' ? 'of this tenant' : 'that this api key uses'}`
  const amounts = `${formatCredits(needed)} credits are needed, but ${formatCredits(left)} are left in the ${budget}`
  const end = periodEnd(period)
  const until = end === null ? '' : ` until ${new Date(end * 1000).toISOString().replace('.000Z', 'Z')}`
  return `${amounts}${until}${advice === undefined ? '' : `; ${advice}`}`
}
