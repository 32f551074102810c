/**
 * The request rate of a key: GCRA, the leaky bucket as one timestamp (ITU-T I.371). What is kept of a key is its
 * theoretical arrival time (`tat`): when the request after this one would come from a client that keeps exactly to its rate.
 * Times are whole microseconds of Unix time: a thousandth of the shortest interval, and exact in a double until 2255.
 */

/** A key may be given no more than this, a thousand requests a second: what one item of the table takes in writes. */
export const RATE_PER_MINUTE_MAX = 60_000

/** A key that rested may send this many seconds' worth of its requests at once (docs/decisions/0033). */
const BURST_SECONDS = 10

const MINUTE_MICROSECONDS = 60_000_000

/** Two clocks of the gateway are never this far apart. */
const CLOCK_SKEW_MICROSECONDS_MAX = 10_000_000

/** Whether a limit is one that can be kept: a whole number of requests per minute, from 1 on. */
export function isRatePerMinute(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= RATE_PER_MINUTE_MAX
}

/** What a rate comes to. Durations in microseconds. */
export type RequestRate = {
  readonly perMinute: number
  /** Requests that a key that rested may send at once. */
  readonly burst: number
  /** Between two requests of a client that keeps exactly to its rate; rounded down, in its favour. */
  readonly interval: number
}

/** The rate of `perMinute` requests a minute. */
export function requestRate(perMinute: number): RequestRate {
  return {
    perMinute,
    burst: Math.max(1, Math.ceil((perMinute * BURST_SECONDS) / 60)),
    interval: Math.floor(MINUTE_MICROSECONDS / perMinute),
  }
}

/**
 * Which `tat` lets a request pass, in bounds that a condition can say. The first way is that of a key that rested; the second
 * adds to what it sent before.
 */
export type RateBounds = {
  /** At or before: the key rests, and `tat` becomes `restedNext`. */
  readonly now: number
  readonly restedNext: number
  /** After `now` and up to this: `interval` is added to `tat`. Later: the request is refused. */
  readonly latest: number
  /**
   * Beyond this, no clock of ours can have set it: a clock was wrong, and the key counts as rested. So a wrong clock never
   * locks a key out for longer than the burst and the skew that is put up with.
   */
  readonly absurd: number
}

/** The bounds at one time. @param nowMilliseconds Unix time. */
export function rateBounds({ burst, interval }: RequestRate, nowMilliseconds: number): RateBounds {
  const now = Math.trunc(nowMilliseconds * 1000)
  return {
    now,
    restedNext: now + interval,
    latest: now + (burst - 1) * interval,
    absurd: now + burst * interval + CLOCK_SKEW_MICROSECONDS_MAX,
  }
}

/** What a `tat` means for a request: the way that it passes, or that it does not. */
export function judgeRate(tat: number | undefined, bounds: RateBounds): 'rested' | 'busy' | 'refused' {
  if (tat === undefined || tat <= bounds.now || tat > bounds.absurd) {
    return 'rested'
  }
  return tat <= bounds.latest ? 'busy' : 'refused'
}

/** What a key has left, after a request that passed or was refused. */
export type RateState = {
  readonly limit: number
  /** Requests that would pass at once. */
  readonly remaining: number
  /** Until the key may send a whole burst again. */
  readonly resetMilliseconds: number
}

/** What a key has left with this `tat`. */
export function rateState(rate: RequestRate, bounds: RateBounds, tat: number): RateState {
  const ahead = Math.min(Math.max(0, tat - bounds.now), rate.burst * rate.interval)
  return {
    limit: rate.perMinute,
    remaining: Math.max(0, Math.floor(rate.burst - ahead / rate.interval)),
    resetMilliseconds: Math.ceil(ahead / 1000),
  }
}

/**
 * Whole seconds, rounded up and at least one, after which a refused request passes if none comes before it. Never longer than
 * the longest time that a key is locked out.
 */
export function retryAfterSeconds({ latest, absurd }: RateBounds, tat: number): number {
  return Math.max(1, Math.ceil((Math.min(tat, absurd) - latest) / 1_000_000))
}
