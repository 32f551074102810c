import { type Microcredits, ZERO } from '../money.ts'

/**
 * What a settlement bills, in counts that never overlap. Every count is a non-negative integer; a count that does not apply
 * is zero. After a settlement by estimate, the counts are estimates too.
 */
export type CountedUsage = {
  /** Input that the upstream processed anew: neither read from a cache nor written to one. */
  readonly inputTokens: number
  /** Input that the upstream read from a cache. */
  readonly cachedInputTokens: number
  /** Input that the upstream wrote to a cache, for any time. */
  readonly cacheWriteTokens: number
  /** Reasoning included. Of a video that is billed by tokens: its tokens. */
  readonly outputTokens: number
  /** Billed length of a video; of a video that is not billed by its length, the length. */
  readonly videoMilliseconds: number
  readonly images: number
}

/** No usage at all. */
const NONE: CountedUsage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  videoMilliseconds: 0,
  images: 0,
}

/** Counts with zero for every part that is left out. */
export function countedUsage(parts: Partial<CountedUsage>): CountedUsage {
  return { ...NONE, ...parts }
}

/** The counts that are not zero, as ledger rows keep them; {@link countedUsage} reads them again. */
export function nonZeroCounts(usage: CountedUsage): Partial<CountedUsage> {
  return Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== 0))
}

/** An amount, and the usage that it is the price of. */
export type Charge = { readonly amount: Microcredits; readonly usage: CountedUsage }

/** How one call of an upstream ended, for the bill of its request. */
export type CallEnd<Usage> = {
  /**
   * `whole`: the reply is complete. `broken`: a reply broke off. `abandoned`: a stream was not read to its end because the
   * client had left. `unread`: a whole reply was not for the same reason. `cut`: a reply was larger than what the gateway holds.
   */
  readonly how: 'whole' | 'broken' | 'abandoned' | 'unread' | 'cut'
  /** What the upstream reported, within the bounds of the model. */
  readonly usage: Usage | undefined
  /** Bytes that were generated, as far as they arrived. */
  readonly textBytes: number
}

/** What a request is billed. */
export type Priced = {
  readonly charge: Charge
  /** Whether any part of it is billed without a usage from an upstream. */
  readonly isEstimated: boolean
  /** For the log line of the request. */
  readonly facts?: Readonly<Record<string, number | undefined>> | undefined
}

/** A reported usage as it is billed, and what cannot be true of what was reported. */
export type CheckedUsage<Usage> = {
  readonly usage: Usage
  /** `above_bound`: more than the model can have used. `contradictory`: a part was above its whole. `reported` is for the log. */
  readonly doubts: readonly {
    readonly kind: 'above_bound' | 'contradictory'
    readonly reported: Readonly<Record<string, number>>
  }[]
}

/** How a request is bounded and billed. */
export type Billing<Usage> = {
  /** An upper bound of the price. @throws InvalidRequestError */
  readonly estimate: () => Charge | Promise<Charge>
  /** The smaller request that an amount would cover; undefined if none is possible. */
  readonly advise: (available: Microcredits) => string | undefined
  /** The usage of a reply that is too large to be held; undefined for none that can be believed. */
  readonly usageOf: (read: { readonly usage: unknown; readonly entries: number }) => Usage | undefined
  /** Limits a reported usage to what the model can have used. */
  readonly check: (usage: Usage) => CheckedUsage<Usage>
  /** What the calls cost that were made, in their order; undefined for nothing. */
  readonly price: (ends: readonly CallEnd<Usage>[]) => Priced | undefined
}

/** Limits a count. @param name for the log. */
export function checkCount(name: string, reported: number, most: number): CheckedUsage<number> {
  return reported <= most
    ? { usage: reported, doubts: [] }
    : { usage: most, doubts: [{ kind: 'above_bound', reported: { [name]: reported } }] }
}

/** What distinguishes a usage counter from the others of its tenant. */
export type UsageDimensions = {
  /** UTC, `yyyy-mm-dd`: the day of the settlements. */
  readonly day: string
  /** Public id of the API key. */
  readonly keyId: string
  /** As in the table of routes, such as `create-chat-completion`. */
  readonly operation: string
  readonly model: string
  /** Whom the requests named; undefined where that is not counted. */
  readonly user?: string | undefined
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

/**
 * The id of a counter within its tenant. Ids sort by day, and the model comes last, because only its id may contain `#`. A user stands behind
 * the operation.
 */
export function counterIdOf({ day, keyId, operation, model, user }: UsageDimensions): string {
  const by = user === undefined ? operation : `${operation}@${encodeURIComponent(user.toWellFormed())}`
  return `${day}#${keyId}#${by}#${model}`
}

/** The dimensions of a counter, from its id. */
export function dimensionsOf(counterId: string): UsageDimensions {
  const [day = '', keyId = '', by = '', ...model] = counterId.split('#')
  const [operation = '', user] = by.split('@')
  const named = user === undefined ? {} : { user: decodeURIComponent(user) }
  return { day, keyId, operation, model: model.join('#'), ...named }
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

/** Usage as responses and exports show it. */
export type UsageView = {
  readonly input_tokens: number
  readonly cached_input_tokens: number
  readonly cache_write_tokens: number
  readonly output_tokens: number
  readonly video_seconds: number
  readonly images: number
}

/** Names usage as responses do; lengths in seconds. */
export function usageView(usage: CountedUsage): UsageView {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    video_seconds: usage.videoMilliseconds / 1_000,
    images: usage.images,
  }
}

/** What a row of the ledger says. */
export const LEDGER_KINDS = ['grant', 'adjust', 'reserve', 'settle', 'release'] as const

/** A row of the append-only ledger, as operators see it. Amounts are decimal strings in credits. */
export type LedgerEntry = {
  readonly kind: (typeof LEDGER_KINDS)[number]
  /** The video job or the relayed request; null for a grant or an adjustment. */
  readonly job: string | null
  /** Granted or reserved; added or, below zero, taken by an adjustment. */
  readonly amount: string
  /** Billed by a settlement; null for every other kind. */
  readonly actual: string | null
  /** ISO 8601. */
  readonly at: string
  /** When a relayed request began, whose one row stands for its reservation, too. */
  readonly reserved_at?: string
  /** Present if the amount was billed without reported usage. */
  readonly estimated?: true
  readonly model?: string
  /** As in the table of routes, such as `create-chat-completion`. */
  readonly operation?: string
  /** Public id of the API key. */
  readonly key?: string
  /** The channel that served a settled job or request. */
  readonly channel?: string
  /** Whom the request named, as usage counts it. */
  readonly user?: string
  /** Of a settlement. */
  readonly usage?: UsageView
  /** Present if a usage counter includes the settlement. */
  readonly counted?: true
  /** Of a grant or an adjustment. */
  readonly id?: string
  /** Of an adjustment. */
  readonly reason?: string
}

/** Whether a string is a day of the calendar, `yyyy-mm-dd`. */
export function isDay(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text)
}
const FIRST_DAY = Date.parse('0000-01-01')

/** The day this many days before another; the first day of the calendar at the earliest. */
export function daysBefore(day: string, count: number): string {
  const time = Math.max(Date.parse(day) - count * DAY_MILLISECONDS, FIRST_DAY)
  return new Date(time).toISOString().slice(0, day.length)
}
