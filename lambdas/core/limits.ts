/**
 * The request rate of a key: GCRA, the leaky bucket as one timestamp (ITU-T I.371). The table holds the theoretical arrival
 * time (`tat`) of a key: when the next request of a client that keeps exactly to its rate would arrive. Times are integers in
 * microseconds of Unix time: a thousandth of the shortest interval, and exact in a double until 2255.
 */

/** The highest rate of a key: 1,000 requests a second, which is DynamoDB's limit for writes of one item. */
export const RATE_PER_MINUTE_MAX = 60_000

/** A key that was idle may send this many seconds' worth of requests at once (docs/decisions/0129). */
const BURST_SECONDS = 12

const MINUTE_MICROSECONDS = 60_000_000

/** Largest difference between two clocks of the gateway. */
const CLOCK_SKEW_MICROSECONDS_MAX = 10_000_000

/** Whether a limit is valid: an integer from 1 to {@link RATE_PER_MINUTE_MAX}. */
export function isRatePerMinute(value: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= RATE_PER_MINUTE_MAX
}

/** A request rate. Durations in microseconds. */
export type RequestRate = {
  readonly perMinute: number
  /** Requests that an idle key may send at once. */
  readonly burst: number
  /** Time between two requests at exactly this rate; rounded down, in the client's favour. */
  readonly interval: number
}

/** Computes burst and interval of a rate. */
export function requestRate(perMinute: number): RequestRate {
  return {
    perMinute,
    burst: Math.max(1, Math.ceil((perMinute * BURST_SECONDS) / 60)),
    interval: Math.floor(MINUTE_MICROSECONDS / perMinute),
  }
}

/** The values of `tat` that let a request pass, as bounds for a DynamoDB condition. */
export type RateBounds = {
  /** At or before: the key was idle, and `tat` becomes `restedNext`. */
  readonly now: number
  readonly restedNext: number
  /** After `now` and up to this: `tat` grows by `interval`. Later: the request is refused. */
  readonly latest: number
  /**
   * Later than any correct clock can have set. The key counts as idle, so that a wrong clock locks it out for no longer than
   * the burst and the tolerated skew.
   */
  readonly absurd: number
}

/** The bounds at a time. @param nowMilliseconds Unix time. */
export function rateBounds({ burst, interval }: RequestRate, nowMilliseconds: number): RateBounds {
  const now = Math.trunc(nowMilliseconds * 1000)
  return {
    now,
    restedNext: now + interval,
    latest: now + (burst - 1) * interval,
    absurd: now + burst * interval + CLOCK_SKEW_MICROSECONDS_MAX,
  }
}

/** Judges a request by the `tat` of its key: `rested` and `busy` pass. */
export function judgeRate(tat: number | undefined, bounds: RateBounds): 'rested' | 'busy' | 'refused' {
  if (tat === undefined || tat <= bounds.now || tat > bounds.absurd) {
    return 'rested'
  }
  return tat <= bounds.latest ? 'busy' : 'refused'
}

/** The state of a key after a request that passed or was refused. */
export type RateState = {
  readonly limit: number
  /** Requests that would pass now. */
  readonly remaining: number
  /** Time until the key may send a whole burst again. */
  readonly resetMilliseconds: number
}

/** The state of a key with this `tat`. */
export function rateState(rate: RequestRate, bounds: RateBounds, tat: number): RateState {
  const ahead = Math.min(Math.max(0, tat - bounds.now), rate.burst * rate.interval)
  return {
    limit: rate.perMinute,
    remaining: Math.max(0, Math.floor(rate.burst - ahead / rate.interval)),
    resetMilliseconds: Math.ceil(ahead / 1000),
  }
}

/**
 * Seconds after which a refused request passes if no other precedes it: rounded up, at least one, and at most the longest
 * lockout.
 */
export function retryAfterSeconds({ latest, absurd }: RateBounds, tat: number): number {
  return Math.max(1, Math.ceil((Math.min(tat, absurd) - latest) / 1_000_000))
}

/** Clients that are refused together come back over this many seconds, because they know nothing of each other. */
const SPREAD_SECONDS = 6

/** What a refused client is told to wait: its wait and up to five seconds more. @param random from 0 up to 1. */
export function spreadWait(seconds: number, random: number): number {
  return seconds + Math.floor(random * SPREAD_SECONDS)
}

/**
 * Requests per minute of a key that is created without `--rate`: sixty at once and five a second, for a team with its tools. Of requests that
 * take half a minute, 210 run at a time, a quarter of the instances that an account has for requests.
 */
export const RATE_PER_MINUTE_DEFAULT = 300

/** Open video jobs of a tenant that is created without `--open-jobs`: the rate above allows a read of each every ten seconds. */
export const OPEN_JOBS_DEFAULT = 10

/** The largest weight of a channel: its share among channels of equal priority, above zero. */
export const CHANNEL_WEIGHT_MAX = 1_000

/** The largest priority of a channel, a whole number from zero. The lowest number is tried first. */
export const CHANNEL_PRIORITY_MAX = 1_000

/** In place of the {@link rateHeaders} of a rate that was lifted meanwhile. */
export const NO_RATE_HEADERS = {
  'x-ratelimit-limit-requests': undefined,
  'x-ratelimit-remaining-requests': undefined,
  'x-ratelimit-reset-requests': undefined,
}

/**
 * What a key has left, in the headers that OpenAI's clients read (OpenAI API reference, "Rate limits"), with a duration
 * such as `8.64s`. No headers for a key without a limit.
 */
export function rateHeaders(state: RateState | undefined): Partial<Record<keyof typeof NO_RATE_HEADERS, string>> {
  if (state === undefined) {
    return {}
  }
  return {
    'x-ratelimit-limit-requests': String(state.limit),
    'x-ratelimit-remaining-requests': String(state.remaining),
    'x-ratelimit-reset-requests': `${state.resetMilliseconds / 1000}s`,
  }
}
