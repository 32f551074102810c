import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  classNameOf,
  detectionLagSeconds,
  sampleSeconds,
  sumsOf,
  type TimeSums,
  usualSeconds,
  WINDOW_SAMPLES,
} from '#core/jobs/generation-times.ts'

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

describe('what is usual for a class', () => {
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

describe('the sample of a finished job', () => {
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

describe('the class of a job', () => {
  it('is the upstream model, the length and the resolution', () => {
    expect(classNameOf('upstream-b', { duration: 5, resolution: '720P' })).toBe('upstream-b#5#720P')
  })
})

describe('how long a finished job lay at the upstream', () => {
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
