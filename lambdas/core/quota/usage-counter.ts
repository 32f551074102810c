import { type Microcredits, ZERO } from '../money/money.ts'
import { type CountedUsage, countedUsage } from './counted-usage.ts'

/** What distinguishes a usage counter from the others of its tenant. */
export type UsageDimensions = {
  /** UTC, `yyyy-mm-dd`: the day of the settlements. */
  readonly day: string
  /** Public id of the API key. */
  readonly keyId: string
  /** As in the table of routes, such as `create-chat-completion`. */
  readonly operation: string
  readonly model: string
}

/** Sums over settlements. `requests` is the number of settlements, `cost` the sum of their amounts. */
export type UsageSums = CountedUsage & { readonly requests: number; readonly cost: Microcredits }

/** One counter of a tenant: sums over all settlements with the same day, key, operation and model. */
export type UsageCounter = UsageDimensions & UsageSums

/** The part of a settlement that usage counters need. `at` in milliseconds; `actual` is the billed amount. */
export type CountedSettlement = Omit<UsageDimensions, 'day'> & {
  readonly tenantId: string
  readonly at: number
  readonly usage: CountedUsage
  readonly actual: Microcredits
}

const DAY_MILLISECONDS = 86_400_000

/** The days asked for last: each settlement asks several times for the same one. */
const knownDays = new Map<number, string>()
const KNOWN_DAYS_MAX = 16

/** The day of a time in milliseconds, in UTC: `yyyy-mm-dd`. */
export function dayOf(atMilliseconds: number): string {
  const number = Math.floor(atMilliseconds / DAY_MILLISECONDS)
  const known = knownDays.get(number)
  if (known !== undefined) {
    return known
  }
  const day = new Date(atMilliseconds).toISOString().slice(0, 'yyyy-mm-dd'.length)
  if (knownDays.size >= KNOWN_DAYS_MAX) {
    knownDays.clear()
  }
  knownDays.set(number, day)
  return day
}

/** The id of a counter within its tenant. Ids sort by day, and the model comes last, because only its id may contain `#`. */
export function counterIdOf({ day, keyId, operation, model }: UsageDimensions): string {
  return `${day}#${keyId}#${operation}#${model}`
}

/** The dimensions of a counter, from its id. */
export function dimensionsOf(counterId: string): UsageDimensions {
  const [day = '', keyId = '', operation = '', ...model] = counterId.split('#')
  return { day, keyId, operation, model: model.join('#') }
}

/** The id of the counter in which a settlement counts. */
export function counterOfSettlement({ at, ...dimensions }: CountedSettlement): string {
  return counterIdOf({ ...dimensions, day: dayOf(at) })
}

/** Whether a settlement counts, and its ledger row has the mark `counted`: requests at a price of zero do not. */
export function isCounted({ actual }: Pick<CountedSettlement, 'actual'>): boolean {
  return actual > ZERO
}

/** The sums of one settlement. */
export function sumsOfSettlement({ usage, actual }: CountedSettlement): UsageSums {
  return { ...usage, requests: 1, cost: actual }
}

/** The sums of no settlement. */
export const NO_USAGE: UsageSums = { ...countedUsage({}), requests: 0, cost: ZERO }

/** Adds two sums. */
export function addUsageSums(left: UsageSums, right: UsageSums): UsageSums {
  return {
    requests: left.requests + right.requests,
    inputTokens: left.inputTokens + right.inputTokens,
    cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
    cacheWriteTokens: left.cacheWriteTokens + right.cacheWriteTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    videoMilliseconds: left.videoMilliseconds + right.videoMilliseconds,
    images: left.images + right.images,
    cost: (left.cost + right.cost) as Microcredits,
  }
}
