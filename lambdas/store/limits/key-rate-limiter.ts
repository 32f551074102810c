import * as z from 'zod/mini'
import {
  judgeRate,
  type RateBounds,
  type RateState,
  type RequestRate,
  rateBounds,
  rateState,
  requestRate,
  retryAfterSeconds,
} from '#core/limits.ts'
import { RecentValues } from '../../platform/cache.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Caller } from '../callers.ts'
import { change } from '../table/expressions.ts'
import type { ItemUpdate, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** Keys whose last known state is remembered, about a hundred kilobytes. */
const KEYS_MAX = 1_000

/** One kind of update fails if another request came first; then the other kind is tried. More tries mean that clocks disagree. */
const TRIES_MAX = 4

/** A key that was idle for a day has its whole burst again, so the table may delete its item. */
const KEPT_SECONDS = 24 * 60 * 60

/** What the limit of a key means for one request. */
type RateVerdict = {
  readonly state: RateState
  /** Whole seconds until the next request passes; undefined when this one passed. */
  readonly retryAfterSeconds: number | undefined
}

/**
 * Counts the requests of keys with a limit, over all instances. A request that passes usually takes one conditional update, and
 * most requests that are refused take none; a key without a limit costs nothing. From the state of a key that an
 * instance remembers, it chooses the update to try first, and refuses requests that already exceed the limit: other instances
 * can only have added requests.
 */
export class KeyRateLimiter {
  readonly #table: Pick<Table, 'updateItem'>
  readonly #clock: Pick<Clock, 'nowMilliseconds'>
  readonly #seen = new RecentValues<number>(KEYS_MAX)

  constructor(table: Pick<Table, 'updateItem'>, clock: Pick<Clock, 'nowMilliseconds'> = systemClock) {
    this.#table = table
    this.#clock = clock
  }

  /**
   * Counts one request. Undefined for a key without a limit.
   * @param countedPerMinute the earlier rate of the key by which this request was counted and let through; the present one judges it again.
   * @throws ServiceUnavailableError when the table stays out of reach: no request can be served without the table anyway.
   */
  async take(
    { keyId, ratePerMinute }: Pick<Caller, 'keyId' | 'ratePerMinute'>,
    countedPerMinute?: number,
  ): Promise<RateVerdict | undefined> {
    if (ratePerMinute === undefined) {
      return undefined
    }
    if (countedPerMinute !== undefined) {
      return await this.#recount(keyId, ratePerMinute, countedPerMinute)
    }
    const rate = requestRate(ratePerMinute)
    const bounds = rateBounds(rate, this.#clock.nowMilliseconds())
    let tat = this.#seen.get(keyId)
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const way = judgeRate(tat, bounds)
      if (way === 'refused') {
        break
      }
      const { isWritten, item } = await this.#table.updateItem(counting(keyId, way, { rate, bounds }))
      tat = readTat(item)
      this.#remember(keyId, tat)
      if (isWritten) {
        return { state: rateState(rate, bounds, tat ?? bounds.now), retryAfterSeconds: undefined }
      }
    }
    const last = tat ?? bounds.restedNext
    return { state: rateState(rate, bounds, last), retryAfterSeconds: retryAfterSeconds(bounds, last) }
  }

  /** In one update: what was counted by the earlier rate counts by the new one instead, if the new one lets the request pass. */
  async #recount(keyId: string, ratePerMinute: number, countedPerMinute: number): Promise<RateVerdict> {
    const rate = requestRate(ratePerMinute)
    const bounds = rateBounds(rate, this.#clock.nowMilliseconds())
    const { interval } = requestRate(countedPerMinute)
    const { isWritten, item } = await this.#table.updateItem(recounted(keyId, interval, { rate, bounds }))
    const tat = readTat(item) ?? bounds.now
    this.#remember(keyId, tat)
    const wait = isWritten ? undefined : retryAfterSeconds(bounds, tat)
    return { state: rateState(rate, bounds, tat), retryAfterSeconds: wait }
  }

  #remember(keyId: string, tat: number | undefined): void {
    if (tat === undefined) {
      this.#seen.delete(keyId)
    } else {
      this.#seen.set(keyId, tat)
    }
  }
}

const rateItem = z.object({ tat: z.number() })

function readTat(item: unknown): number | undefined {
  return item === undefined ? undefined : rateItem.parse(item).tat
}

/** The update with which a request passes. Its condition repeats the rule, so that concurrent requests all count. */
function counting(
  keyId: string,
  way: 'rested' | 'busy',
  { rate, bounds }: { rate: RequestRate; bounds: RateBounds },
): ItemUpdate {
  const { now, restedNext, latest, absurd } = bounds
  const ttl = Math.trunc(now / 1_000_000) + KEPT_SECONDS
  const key = tableKeys.requestRate(keyId)
  if (way === 'rested') {
    const condition = 'attribute_not_exists(tat) OR tat <= :now OR tat > :absurd'
    const keyRested = { condition, values: { ':now': now, ':absurd': absurd } }
    return change(key, { set: { tat: restedNext, ttl } }, [keyRested])
  }
  const keyHasSomeLeft = { condition: 'tat > :now AND tat <= :latest', values: { ':now': now, ':latest': latest } }
  return change(key, { set: { ttl }, add: { tat: rate.interval } }, [keyHasSomeLeft])
}

/** The update that moves a request from the interval by which it was counted to that of the new rate, where the new rate lets it pass. */
function recounted(
  keyId: string,
  counted: number,
  { rate, bounds }: { rate: RequestRate; bounds: RateBounds },
): ItemUpdate {
  const keyHasSomeLeft = { condition: 'tat <= :latest', values: { ':latest': bounds.latest + counted } }
  return change(tableKeys.requestRate(keyId), { add: { tat: rate.interval - counted } }, [keyHasSomeLeft])
}
