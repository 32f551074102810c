import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import {
  channelWait,
  classNameOf,
  detectionLagSeconds,
  firstPollWait,
  nextPollWait,
  pollGrace,
  sampleSeconds,
  sumsOf,
  type TimeSums,
  throttledWait,
  type UsualSeconds,
  usualSeconds,
  WINDOW_SAMPLES,
} from '#core/jobs/waits.ts'

const common = {
  id: 'channel',
  base_url: 'https://upstream.example.test',
  api_key: '',
  models: {},
  priority: 0,
  weight: 1,
  max_open_jobs: 100,
  deadline_minutes: 60,
  poll: {},
  reference_checks: false,
}
const p1: VideoChannel = { ...common, provider: 'p1', async_header: 'X-Async' }
const p2: VideoChannel = { ...common, provider: 'p2', route: 'direct', paths: { submit: '/s', poll: '/p/{id}' } }

const withPoll = (poll: VideoChannel['poll']): VideoChannel => ({ ...p1, poll })

/** From 0 up to 1. */
const randoms = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const LAST = 1 - Number.EPSILON

type Members = { elapsedSeconds?: number; openJobs?: number; random?: number; usual?: UsualSeconds | undefined }

const next = (channel: VideoChannel, members: Members) =>
  nextPollWait({ channel, elapsedSeconds: 60, openJobs: 1, random: 0.5, ...members })

/** Whatever a class may be found to take. */
const usuals = fc
  .tuple(fc.integer({ min: 1, max: 21_600 }), fc.integer({ min: 1, max: 21_600 }))
  .map(([one, other]): UsualSeconds => ({ early: Math.min(one, other), median: Math.max(one, other) }))

/** The class for which P2's start values were found. */
const STANDARD = { early: 34, median: 90 }

describe('firstPollWait', () => {
  it.each([
    ['p1', p1, 30, 24, 36],
    ['p2', p2, 42, 34, 50],
  ])('of %s spreads its start value by a fifth', (_, channel, middle, least, most) => {
    expect([0, 0.5, LAST].map((random) => firstPollWait(channel, random))).toStrictEqual([least, middle, most])
  })

  it('is what the configuration says', () => {
    expect(firstPollWait(withPoll({ first_seconds: 100 }), 0.5)).toBe(100)
  })

  it('of one second stays one second', () => {
    fc.assert(fc.property(randoms, (random) => firstPollWait(withPoll({ first_seconds: 1 }), random) === 1))
  })
})

describe('nextPollWait', () => {
  it.each([
    ['p1', p1, 15, 12, 18],
    ['p2', p2, 9, 7, 11],
  ])('of %s spreads its start value by a fifth', (_, channel, middle, least, most) => {
    expect([0, 0.5, LAST].map((random) => next(channel, { random }))).toStrictEqual([least, middle, most])
  })

  it('is what the configuration says', () => {
    expect(next(withPoll({ interval_seconds: 20 }), {})).toBe(20)
  })

  it('of one second stays one second', () => {
    const channel = withPoll({ interval_seconds: 1, requests_per_second: 10 })
    fc.assert(fc.property(randoms, (random) => next(channel, { random }) === 1))
  })

  it('is 30 to 60 seconds after ten minutes', () => {
    expect(next(p1, { elapsedSeconds: 600, random: LAST })).toBeLessThan(30)
    expect(next(p1, { elapsedSeconds: 601, random: 0 })).toBe(30)
    expect(next(p1, { elapsedSeconds: 601, random: LAST })).toBe(60)
    fc.assert(
      fc.property(randoms, fc.integer({ min: 601, max: 3500 }), (random, elapsedSeconds) => {
        const wait = next(p1, { elapsedSeconds, random })
        return wait >= 30 && wait <= 60
      }),
    )
  })

  it('stays above 60 seconds after ten minutes where the configuration says so', () => {
    expect(next(withPoll({ interval_seconds: 120 }), { elapsedSeconds: 601 })).toBe(120)
  })

  it('never lets all open jobs of a channel together poll more often than its limit', () => {
    const limits = fc.double({ min: 0.1, max: 100, noNaN: true })
    fc.assert(
      fc.property(randoms, fc.integer({ min: 1, max: 20_000 }), limits, (random, openJobs, requests_per_second) => {
        const channel = { ...withPoll({ requests_per_second }), deadline_minutes: 1_000_000 }
        return openJobs / next(channel, { openJobs, random }) <= requests_per_second
      }),
    )
  })

  it('is stretched no further than the limit asks, spread by a fifth', () => {
    const channel = withPoll({ requests_per_second: 10 })
    expect(next(channel, { openJobs: 100 })).toBe(15)
    expect([0, LAST].map((random) => next(channel, { openJobs: 1000, random }))).toStrictEqual([100, 120])
  })

  it('ends within a second after the deadline', () => {
    expect(next(p1, { elapsedSeconds: 3595, random: LAST })).toBe(6)
    expect(next(p1, { elapsedSeconds: 3599.5 })).toBe(2)
    expect(next(withPoll({ requests_per_second: 1 }), { elapsedSeconds: 3000, openJobs: 100_000 })).toBe(601)
  })

  it('is one second at least, past the deadline and with a clock that runs backwards too', () => {
    expect(next(p1, { elapsedSeconds: 3601 })).toBe(1)
    expect(next(p1, { elapsedSeconds: 1e9 })).toBe(1)
    expect(next(p1, { elapsedSeconds: -300 })).toBe(15)
    expect(next(p1, { openJobs: 0 })).toBe(15)
  })

  it('is always whole seconds that the state machine can wait', () => {
    const members = fc.record({
      elapsedSeconds: fc.double({ min: -1000, max: 100_000, noNaN: true }),
      openJobs: fc.integer({ min: -5, max: 1_000_000 }),
      random: randoms,
      usual: fc.option(usuals, { nil: undefined }),
    })
    const channels = fc.record({
      interval_seconds: fc.integer({ min: 1, max: 3600 }),
      requests_per_second: fc.double({ min: 0.001, max: 1000, noNaN: true }),
    })
    fc.assert(
      fc.property(members, channels, (given, poll) => {
        const all = { channel: { ...p2, poll }, ...given }
        const fits = (latest: number) => (wait: number) =>
          Number.isInteger(wait) && wait >= 1 && wait <= Math.max(1, latest - given.elapsedSeconds + 2)
        return (
          [nextPollWait(all), next(withPoll(poll), given)].every(fits(3_600)) && fits(3_600 + 1_800)(throttledWait(all))
        )
      }),
    )
  })
})

describe('nextPollWait of a class whose times are known', () => {
  const first = (channel: VideoChannel, usual: UsualSeconds) => firstPollWait(channel, 0.5, usual)
  const waits = fc.record({
    first_seconds: fc.integer({ min: 1, max: 900 }),
    interval_seconds: fc.integer({ min: 1, max: 900 }),
  })

  it('begins when one job in twenty is done', () => {
    expect(first(p2, { early: 70, median: 120 })).toBe(70)
    expect(first(p1, { early: 70, median: 120 })).toBe(70)
  })

  it('keeps the interval where jobs take what the start values are for', () => {
    expect(next(p2, { usual: STANDARD })).toBe(9)
  })

  it('goes with the root of how widely the times spread', () => {
    expect(next(p2, { usual: { early: 136, median: 360 } })).toBe(18)
    expect(next(p2, { usual: { early: 17, median: 45 } })).toBe(6)
    expect(next(p2, { usual: { early: 80, median: 90 } })).toBe(3)
  })

  it('never changes the interval of p1, which its provider advises', () => {
    fc.assert(
      fc.property(usuals, randoms, waits, (usual, random, poll) => {
        const channel = withPoll(poll)
        expect(next(channel, { usual, random })).toBe(next(channel, { random }))
      }),
    )
  })

  it('of p2 stays between a third of and three times the configured interval', () => {
    fc.assert(
      fc.property(usuals, randoms, waits, (usual, random, poll) => {
        const wait = next({ ...p2, poll }, { usual, random })
        expect(wait).toBeGreaterThanOrEqual(Math.max(1, Math.round((poll.interval_seconds / 3) * 0.8)))
        expect(wait).toBeLessThanOrEqual(Math.max(1, Math.round(poll.interval_seconds * 3 * 1.2)))
      }),
    )
  })

  it('before the first poll is at least one configured wait, and four times the first one at most', () => {
    fc.assert(
      fc.property(usuals, randoms, waits, (usual, random, poll) => {
        const wait = firstPollWait(withPoll(poll), random, usual)
        const least = Math.min(poll.first_seconds, poll.interval_seconds)
        expect(wait).toBeGreaterThanOrEqual(Math.max(1, Math.round(least * 0.8)))
        expect(wait).toBeLessThanOrEqual(Math.max(1, Math.round(poll.first_seconds * 4 * 1.2)))
      }),
    )
  })

  it('of one second stays one second, whatever was learnt', () => {
    const poll = { first_seconds: 1, interval_seconds: 1 }
    fc.assert(
      fc.property(usuals, randoms, (usual, random) => {
        for (const channel of [withPoll(poll), { ...p2, poll }]) {
          expect(firstPollWait(channel, random, usual)).toBe(1)
          expect(next(channel, { usual, random })).toBe(1)
        }
      }),
    )
  })

  it('is still 30 to 60 seconds after ten minutes, and leaves the other jobs of the channel their share', () => {
    expect(next(p2, { usual: STANDARD, elapsedSeconds: 601, random: 0 })).toBe(30)
    const channel = { ...p2, poll: { requests_per_second: 10 } }
    expect(next(channel, { usual: { early: 8, median: 9 }, openJobs: 1000, random: 0 })).toBe(100)
  })
})

describe('throttledWait', () => {
  const p2Crowded = withPoll({ requests_per_second: 10 })
  const throttled = (openJobs: number, members: Members = {}) =>
    throttledWait({
      channel: withPoll({ requests_per_second: 10 }),
      elapsedSeconds: 60,
      openJobs,
      random: 0.5,
      ...members,
    })

  it('is two seconds, and an eighth of the share where many jobs stand in line', () => {
    expect([0, 1, 100].map((openJobs) => throttled(openJobs))).toStrictEqual([2, 2, 2])
    expect([0, LAST].map((random) => throttled(1600, { random }))).toStrictEqual([20, 24])
  })

  it('ends within a second after the deadline and the grace of a job that had no poll: a minute to half an hour', () => {
    expect(throttled(1_000_000, { elapsedSeconds: 3590 })).toBe(1_811)
    expect(throttled(1, { elapsedSeconds: 3_659 })).toBe(2)
    expect(throttled(1, { elapsedSeconds: 4_000 })).toBe(1)
    expect([1, 1_000, 1_000_000].map((openJobs) => pollGrace(p2Crowded, openJobs))).toEqual([60, 200, 1_800])
  })
})

describe('channelWait', () => {
  it.each([
    [0, 5],
    [50, 5],
    [100, 10],
    [300, 30],
    [100_000, 30],
    [-60, 5],
  ])('after %i seconds is about %i', (waitedSeconds, seconds) => {
    expect(channelWait(waitedSeconds, 0.5)).toBe(seconds)
    expect(channelWait(waitedSeconds, 0)).toBe(Math.round(seconds * 0.8))
    expect(channelWait(waitedSeconds, LAST)).toBe(Math.round(seconds * 1.2))
  })
})

const NOTHING: TimeSums = { samples: 0, logSum: 0, logSquares: 0 }

/** As the table adds them up. */
function sumOf(times: readonly number[]): TimeSums {
  return times.map(sumsOf).reduce(
    (sum, each) => ({
      samples: sum.samples + each.samples,
      logSum: sum.logSum + each.logSum,
      logSquares: sum.logSquares + each.logSquares,
    }),
    NOTHING,
  )
}

const usualOf = (times: readonly number[]) => usualSeconds([sumOf(times)])

/** Seconds that a sample may have. */
const seconds = fc.double({ min: 1, max: 21_600, noNaN: true })

/** The 19 quantiles 5 %, 10 % ... 95 % of a lognormal law with a median of 90 s and a 95th percentile of 240 s. */
const STANDARD_LAW = [34, 42, 49, 54, 60, 66, 72, 77, 84, 90, 97, 105, 113, 123, 135, 149, 167, 193, 240]

describe('usualSeconds of a class', () => {
  it('is not known from fewer than eight jobs', () => {
    expect(usualOf(Array<number>(7).fill(60))).toBeUndefined()
    expect(usualOf(Array<number>(8).fill(60))).toBeDefined()
    expect(usualSeconds([])).toBeUndefined()
  })

  it('is the median and the fifth percentile of a lognormal law', () => {
    const usual = usualOf(STANDARD_LAW)
    expect(usual?.median).toBe(90)
    expect(usual?.early).toBeGreaterThanOrEqual(34)
    expect(usual?.early).toBeLessThanOrEqual(40)
  })

  it('is hardly moved by one job that took twenty times as long', () => {
    const usual = usualOf([...Array.from({ length: 4 }, () => STANDARD_LAW).flat(), 1800])
    expect(usual?.median).toBeGreaterThan(88)
    expect(usual?.median).toBeLessThan(96)
    expect(usual?.early).toBeGreaterThan(28)
  })

  it('leaves room before the median although all jobs took the same', () => {
    expect(usualOf(Array<number>(50).fill(100))).toEqual({ early: 85, median: 100 })
  })

  it('does not depend on the order of the jobs, nor on the window that holds them', () => {
    fc.assert(
      fc.property(fc.array(seconds, { minLength: 8, maxLength: 40 }), fc.nat(40), (times, cut) => {
        const windows = [sumOf(times.slice(cut).reverse()), sumOf(times.slice(0, cut))]
        expect(usualSeconds(windows)).toStrictEqual(usualOf(times))
      }),
    )
  })

  it('is whole seconds from one to six hours, early never after the median, whatever two full windows hold', () => {
    const windows = fc.array(seconds, { minLength: 8, maxLength: 2 * WINDOW_SAMPLES })
    fc.assert(
      fc.property(windows, (times) => {
        const sums = sumOf(times)
        expect(Object.values(sums).every(Number.isSafeInteger)).toBe(true)
        const { early, median } = usualSeconds([sums]) ?? { early: 0, median: 0 }
        expect(Number.isInteger(early) && Number.isInteger(median)).toBe(true)
        expect(early).toBeGreaterThanOrEqual(1)
        expect(median).toBeGreaterThanOrEqual(early)
        expect(median).toBeLessThanOrEqual(21_600)
      }),
    )
  })
})

describe('sampleSeconds of a finished job', () => {
  const sample = (reportedSeconds: number | undefined, elapsedSeconds = 100, waitedSeconds: number | undefined = 10) =>
    sampleSeconds({ reportedSeconds, elapsedSeconds, waitedSeconds })

  it('is what the upstream reports', () => {
    expect(sample(79.5)).toBe(79.5)
    expect(sample(1)).toBe(1)
  })

  it('is the middle of the last wait where the upstream reports nothing', () => {
    expect(sample(undefined)).toBe(95)
    expect(sample(undefined, 40, 60)).toBe(20)
  })

  it.each([
    ['zero', 0],
    ['negative', -5],
    ['not a number', Number.NaN],
    ['endless', Number.POSITIVE_INFINITY],
    ['longer than the job has existed', 103],
  ])('is the middle of the last wait where the report is %s', (_, reported) => {
    expect(sample(reported)).toBe(95)
  })

  it('may be reported a moment longer than the job has existed, because clocks differ', () => {
    expect(sample(101.9)).toBe(101.9)
  })

  it('is nothing where neither can be believed', () => {
    expect(sampleSeconds({ reportedSeconds: 0, elapsedSeconds: 100, waitedSeconds: undefined })).toBeUndefined()
    expect(sample(undefined, 0.5, 1)).toBeUndefined()
    expect(sample(undefined, -30, 10)).toBeUndefined()
    expect(sample(undefined, 90_000, 10)).toBeUndefined()
    expect(sample(80_000, 90_000, 10)).toBeUndefined()
  })
})

describe('classNameOf', () => {
  it('is the upstream model, the length and the resolution', () => {
    expect(classNameOf('upstream-b', { duration: 5, resolution: '720P' })).toBe('upstream-b#5#720P')
  })
})

describe('detectionLagSeconds of a finished job', () => {
  const job = { elapsedSeconds: 60, waitedSeconds: 15 }

  it('is what is left of the time since the submit, where the upstream reports its own', () => {
    expect(detectionLagSeconds({ ...job, reportedSeconds: 53 })).toBe(7)
    expect(detectionLagSeconds({ ...job, reportedSeconds: 61 })).toBe(0)
  })

  it.each([undefined, 0, -5, 3600])(
    'is at most the wait before the poll, where the upstream reports %s',
    (reported) => {
      expect(detectionLagSeconds({ ...job, reportedSeconds: reported })).toBe(15)
    },
  )

  it('is not known where neither is', () => {
    expect(
      detectionLagSeconds({ elapsedSeconds: 60, waitedSeconds: undefined, reportedSeconds: undefined }),
    ).toBeUndefined()
  })
})
