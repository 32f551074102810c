import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { creationTimes, isSparse, type JobFilter, matchesFilter } from '#core/jobs/job-filter.ts'
import { JOB_LIFETIME_SECONDS, type VideoJobStatus } from '#core/jobs/video-job.ts'
import { VISIBLE_STATUSES } from '#core/jobs/visible-status.ts'
import { videoJobRecord } from '../../engines/video-job-record.ts'

const NOW = 1_800_000_000

function jobAt(createdAt: number, status: VideoJobStatus = 'failed', model = 'm') {
  return videoJobRecord({ createdAt, expiresAt: createdAt + JOB_LIFETIME_SECONDS, status, model })
}

describe('matchesFilter', () => {
  it.each<[JobFilter, boolean]>([
    [{}, true],
    [{ status: 'failed' }, true],
    [{ status: 'succeeded' }, false],
    [{ status: 'expired' }, false],
    [{ model: 'm' }, true],
    [{ model: 'M' }, false],
    [{ createdAfter: NOW - 10 }, true],
    [{ createdAfter: NOW - 9 }, false],
    [{ createdBefore: NOW - 9 }, true],
    [{ createdBefore: NOW - 10 }, false],
    [{ status: 'failed', model: 'm', createdAfter: NOW - 10, createdBefore: NOW - 9 }, true],
    [{ status: 'failed', model: 'n' }, false],
  ])('judges a failed job of model m, ten seconds old, by %j: %s', (filter, expected) => {
    expect(matchesFilter(jobAt(NOW - 10), filter, NOW)).toBe(expected)
  })

  it('takes a job for expired from the end of its lifetime on, whatever its stored status', () => {
    const [edge, young] = [NOW - JOB_LIFETIME_SECONDS, NOW - JOB_LIFETIME_SECONDS + 1].map((at) => jobAt(at))
    const shown = [edge, young].map(
      (job) => job && [matchesFilter(job, { status: 'expired' }, NOW), matchesFilter(job, { status: 'failed' }, NOW)],
    )
    expect(shown).toEqual([
      [true, false],
      [false, true],
    ])
  })
})

describe('creationTimes', () => {
  it('leave out no job that matches', () => {
    const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
    const second = fc.integer({ min: NOW - 2 * JOB_LIFETIME_SECONDS, max: NOW })
    fc.assert(
      fc.property(
        second,
        fc.constantFrom<VideoJobStatus>('queued', 'processing', 'succeeded', 'failed'),
        fc.record({
          status: optional(fc.constantFrom(...VISIBLE_STATUSES)),
          createdAfter: optional(second),
          createdBefore: optional(second),
        }),
        (createdAt, status, filter) => {
          const { from, before } = creationTimes(filter, NOW)
          const isInside = from <= createdAt && createdAt < before
          expect(isInside || !matchesFilter(jobAt(createdAt, status), filter, NOW)).toBe(true)
        },
      ),
    )
  })

  it('spare expired jobs a walk over younger ones, and all others a walk over expired ones', () => {
    const end = NOW - JOB_LIFETIME_SECONDS + 1
    expect(creationTimes({ status: 'expired' }, NOW)).toEqual({ from: 0, before: end })
    expect(creationTimes({ status: 'queued' }, NOW)).toEqual({ from: end, before: Number.POSITIVE_INFINITY })
  })
})

describe('isSparse', () => {
  it('is true for a status or a model, which most jobs may not have', () => {
    const filters: JobFilter[] = [{ status: 'failed' }, { model: 'm' }, { createdAfter: 1 }, {}]
    expect(filters.map(isSparse)).toEqual([true, true, false, false])
  })
})
