import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { creationTimes, isSparse, type JobFilter, matchesFilter, parseListQuery } from '#core/jobs/list-query.ts'
import { JOB_LIFETIME_SECONDS, VISIBLE_STATUSES, type VideoJobStatus } from '#core/jobs/video-job.ts'
import { videoJobRecord } from '../../engines/video-jobs.ts'
import { issuesOf } from '../shipped-catalogue.ts'

/** No filter. */
const ALL = { status: undefined, model: undefined, createdAfter: undefined, createdBefore: undefined }

const ID = '0198c1b2-7d3e-7f00-8a11-2233445566ff'

describe('parseListQuery', () => {
  it('lists the first twenty when nothing is asked', () => {
    expect(parseListQuery({})).toStrictEqual({ limit: 20, offset: 0, after: undefined, filter: ALL })
  })

  it.each([
    ['1', 1],
    ['100', 100],
    ['101', 100],
    ['1000000000', 100],
    ['9'.repeat(400), 100],
    ['007', 7],
    ['0', 20],
    ['-1', 20],
    ['abc', 20],
    ['', 20],
    ['20.5', 20],
    ['5.0', 20],
    ['1e2', 20],
    ['+5', 20],
    [' 5', 20],
    ['5\n', 20],
    ['٥', 20],
    ['NaN', 20],
    ['Infinity', 20],
  ])('reads the limit %j as %i', (limit, expected) => {
    expect(parseListQuery({ limit }).limit).toBe(expected)
  })

  it.each([
    ['0', 0],
    ['-0', 0],
    ['-1', 0],
    ['x', 0],
    ['1.5', 0],
    ['9999', 9999],
    ['10000', 10_000],
  ])('reads the offset %j as %i', (offset, expected) => {
    expect(parseListQuery({ offset }).offset).toBe(expected)
  })

  it.each(['10001', '1000000000000', '9'.repeat(400)])('refuses the offset %s', (offset) => {
    const message = 'the query parameter `offset` must be at most 10000: use after=<last_id> to go further'
    expect(issuesOf(() => parseListQuery({ offset }))).toStrictEqual([{ path: 'offset', message }])
  })

  it.each([ID, ID.toUpperCase()])('takes the cursor %s in any case', (after) => {
    expect(parseListQuery({ after }).after).toBe(ID)
  })

  it.each(['', 'x', `${ID}0`, ` ${ID}`, `${ID}\n`, ID.replaceAll('-', '')])('refuses the cursor %j', (after) => {
    const message = 'the query parameter `after` must be the id of a video job, such as `last_id` of the page before'
    expect(issuesOf(() => parseListQuery({ after }))).toStrictEqual([{ path: 'after', message }])
  })

  it('ignores what else the query holds', () => {
    const page = { limit: 3, offset: 0, after: undefined, filter: ALL }
    expect(parseListQuery({ order: 'asc', limit: '3' })).toStrictEqual(page)
  })

  it('reads every filter', () => {
    const query = { status: 'expired', model: 'famB-1.1-t2v', created_after: '0', created_before: '1795263797' }
    expect(parseListQuery(query).filter).toStrictEqual({
      ...{ status: 'expired', model: 'famB-1.1-t2v' },
      ...{ createdAfter: 0, createdBefore: 1_795_263_797 },
    })
  })

  it.each([
    ['status', ''],
    ['status', 'Failed'],
    ['status', 'canceled'],
    ['status', 'failed,queued'],
    ['model', ''],
    ['model', 'm'.repeat(129)],
    ['created_after', ''],
    ['created_after', '-1'],
    ['created_after', '2026-11-01'],
    ['created_after', '1795263797.5'],
    ['created_before', '1795263797000'],
    ['created_before', '9'.repeat(400)],
  ])('refuses the filter %s=%j and names it', (name, value) => {
    expect(issuesOf(() => parseListQuery({ [name]: value }))).toStrictEqual([
      { path: name, message: expect.stringContaining(`\`${name}\` must be `) },
    ])
  })

  it('names every wrong parameter at once', () => {
    const issues = issuesOf(() => parseListQuery({ status: 'x', created_after: 'x', after: 'x' }))
    expect(issues?.map(({ path }) => path)).toStrictEqual(['after', 'status', 'created_after'])
  })

  it.each([{ status: 'failed' }, { model: 'm' }])('refuses an offset beside %j, whose pages may be short', (filter) => {
    const message = 'the query parameter `offset` cannot be combined with `status` or `model`: use after=<last_id>'
    expect(issuesOf(() => parseListQuery({ ...filter, offset: '1' }))).toStrictEqual([{ path: 'offset', message }])
    expect(parseListQuery({ ...filter, offset: '0' }).offset).toBe(0)
    expect(parseListQuery({ created_after: '5', offset: '1' }).offset).toBe(1)
  })
})

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
