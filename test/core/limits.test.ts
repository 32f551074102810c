import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  isRatePerMinute,
  judgeRate,
  OPEN_JOBS_DEFAULT,
  RATE_PER_MINUTE_DEFAULT,
  RATE_PER_MINUTE_MAX,
  rateBounds,
  rateState,
  requestRate,
  retryAfterSeconds,
  spreadWait,
} from '#core/limits.ts'

const NOW = 1_800_000_000_000
const MICROSECONDS = 1000

/** One key, served by one clock that never goes back. */
class Bucket {
  readonly rate
  tat: number | undefined

  constructor(perMinute: number) {
    this.rate = requestRate(perMinute)
  }

  take(atMilliseconds: number): boolean {
    const bounds = rateBounds(this.rate, atMilliseconds)
    const way = judgeRate(this.tat, bounds)
    if (way !== 'refused') {
      this.tat = way === 'rested' ? bounds.restedNext : (this.tat ?? 0) + this.rate.interval
    }
    return way !== 'refused'
  }

  /** Takes a whole burst. */
  exhaust(atMilliseconds: number): void {
    for (let request = 0; request < this.rate.burst; request += 1) {
      this.take(atMilliseconds)
    }
  }
}

const perMinute = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: RATE_PER_MINUTE_MAX }))

describe('the rate of a key', () => {
  it.each([
    [1, 1, 60_000_000],
    [5, 1, 12_000_000],
    [6, 2, 10_000_000],
    [60, 12, 1_000_000],
    [300, 60, 200_000],
    [600, 120, 100_000],
    [60_000, 12_000, 1000],
  ])(
    'of %s a minute is a burst of twelve seconds’ worth, rounded up: %s, then one each %s microseconds',
    (rate, burst, interval) => {
      expect(requestRate(rate)).toEqual({ perMinute: rate, burst, interval })
    },
  )

  it.each([0, -1, 1.5, Number.NaN, RATE_PER_MINUTE_MAX + 1])('is never %s', (value) => {
    expect(isRatePerMinute(value)).toBe(false)
  })

  it('never lets more pass in any window than the burst and what the window is worth', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 1, maxLength: 60 })
    fc.assert(
      fc.property(perMinute, gaps, (rate, pauses) => {
        const bucket = new Bucket(rate)
        const passed: number[] = []
        let now = NOW
        for (const pause of pauses) {
          now += pause
          if (bucket.take(now)) {
            passed.push(now)
          }
        }
        const { burst, interval } = bucket.rate
        const isTooMany = passed.some((from, first) =>
          passed
            .slice(first)
            .some((to, more) => more + 1 > burst + Math.floor(((to - from) * MICROSECONDS) / interval)),
        )
        expect(isTooMany).toBe(false)
      }),
    )
  })

  it('never refuses a client that keeps to it, however long, and lets a rested one send its whole burst', () => {
    const pauses = fc.array(fc.double({ min: 1, max: 2, noNaN: true }), { minLength: 1, maxLength: 100 })
    fc.assert(
      fc.property(perMinute, pauses, (rate, factors) => {
        const bucket = new Bucket(rate)
        let now = NOW
        const isServed = factors.map((factor) => {
          now += (60_000 / rate) * factor
          return bucket.take(now)
        })
        expect(isServed.every(Boolean)).toBe(true)
        now += 13_000 + 60_000 / rate
        expect(Array.from({ length: bucket.rate.burst }, () => bucket.take(now)).every(Boolean)).toBe(true)
        expect(bucket.take(now)).toBe(false)
      }),
    )
  })

  it('says when the next request passes: then it does, and a whole second earlier it does not', () => {
    fc.assert(
      fc.property(perMinute, fc.integer({ min: 0, max: 5000 }), (rate, elapsed) => {
        const bucket = new Bucket(rate)
        bucket.exhaust(NOW)
        const now = NOW + Math.min(elapsed, Math.floor(bucket.rate.interval / MICROSECONDS) - 1)
        const seconds = retryAfterSeconds(rateBounds(bucket.rate, now), bucket.tat ?? 0)
        expect(seconds).toBeGreaterThanOrEqual(1)
        const { tat } = bucket
        expect(bucket.take(now + seconds * 1000)).toBe(true)
        bucket.tat = tat
        expect(seconds === 1 || !bucket.take(now + (seconds - 1) * 1000 - 1)).toBe(true)
      }),
    )
  })

  it('is told as what is left at once, and how long until all of it is back', () => {
    const bucket = new Bucket(60)
    const left = () => rateState(bucket.rate, rateBounds(bucket.rate, NOW), bucket.tat ?? 0)
    expect(left()).toEqual({ limit: 60, remaining: 12, resetMilliseconds: 0 })
    bucket.take(NOW)
    bucket.take(NOW)
    expect(left()).toEqual({ limit: 60, remaining: 10, resetMilliseconds: 2000 })
    bucket.exhaust(NOW)
    expect(left()).toEqual({ limit: 60, remaining: 0, resetMilliseconds: 12_000 })
  })
})

describe('spreadWait', () => {
  it('adds up to five whole seconds at random to a wait, and never less than it', () => {
    expect([0, 0.2, 0.5, 0.999].map((random) => spreadWait(2, random))).toEqual([2, 3, 5, 7])
  })
})

describe('judgeRate with a clock that is wrong', () => {
  const rate = requestRate(60)
  const waitUntilServed = (skewMilliseconds: number) => {
    const ahead = new Bucket(60)
    ahead.exhaust(NOW + skewMilliseconds)
    const after = Array.from({ length: 120 }, (_, second) => second)
    return after.find((second) => judgeRate(ahead.tat, rateBounds(rate, NOW + second * 1000)) !== 'refused')
  }

  it.each([
    [0, 1],
    [2_000, 3],
    [10_000, 11],
    [12_000, 0],
    [60_000, 0],
    [86_400_000, 0],
    [-60_000, 0],
  ])('by %s ms locks nobody out for long: the next request passes after %s s', (skew, seconds) => {
    expect(waitUntilServed(skew)).toBe(seconds)
  })
})

/** What AWS gives an account that asked for it, and what other functions need of that (docs/scaling.md, 1,000 open jobs). */
const CONCURRENCY = { account: 1_000, others: 50 }

/** A long chat. */
const REQUEST_SECONDS = 30

/** Seconds between two polls of a job, the shortest that docs/api.md advises. */
const POLL_SECONDS = 10

describe('the limits of a key and a tenant that are made without saying', () => {
  it('are 300 requests a minute and 60 at once', () => {
    expect(requestRate(RATE_PER_MINUTE_DEFAULT)).toMatchObject({ perMinute: 300, burst: 60 })
  })

  it('keep one key from holding a quarter of the Lambda concurrency of an account by requests of half a minute', () => {
    const { burst, perMinute } = requestRate(RATE_PER_MINUTE_DEFAULT)
    const heldAtOnce = burst + (perMinute / 60) * REQUEST_SECONDS
    expect(heldAtOnce).toBeLessThanOrEqual((CONCURRENCY.account - CONCURRENCY.others) / 4)
  })

  it('let the tenant poll all jobs that it may have open', () => {
    expect((OPEN_JOBS_DEFAULT * 60) / POLL_SECONDS).toBeLessThanOrEqual(RATE_PER_MINUTE_DEFAULT)
  })
})
