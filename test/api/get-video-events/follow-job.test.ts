import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import fc from 'fast-check'
import { ServiceUnavailableError } from '#core/errors.ts'
import { type VideoJob, withReportedPercent } from '#core/jobs/video-job.ts'
import { EventMessages, followJob, readFollowedJob } from '#lambdas/api/get-video-events/follow-job.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { FINISHED, PROCESSING, QUEUED, STORED, SUCCEEDED } from '../../core/jobs/watched-job.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

type Script = {
  /** The job at a moment, in seconds since its creation; undefined when it may not be seen any more. */
  readonly jobAt: (seconds: number) => VideoJob | undefined
  readonly lastEventId?: string
  readonly secondsMax?: number
  readonly leavesAfter?: number
  /** Reads that find the table out of reach. */
  readonly failing?: ReadonlySet<number>
}

/** Follows a job on a clock that moves when the stream pauses. */
async function follow({ jobAt, lastEventId, secondsMax = 700, leavesAfter, failing = new Set() }: Script) {
  let milliseconds = QUEUED.createdAt * 1000
  const leaving = new AbortController()
  const readAt: number[] = []
  const sent: string[] = []
  const secondsNow = () => milliseconds / 1000 - QUEUED.createdAt
  const result = await followJob(jobAt(0) ?? QUEUED, new EventMessages(lastEventId), {
    nowMilliseconds: () => milliseconds,
    pause: async (pause) => {
      milliseconds += pause
      if (leavesAfter !== undefined && secondsNow() >= leavesAfter) {
        leaving.abort()
      }
    },
    readJob: async () => {
      readAt.push(milliseconds)
      if (failing.has(readAt.length)) {
        throw new ServiceUnavailableError()
      }
      return jobAt(secondsNow())
    },
    gone: leaving.signal,
    send: async (messages) => {
      if (messages !== '') {
        sent.push(messages)
      }
    },
    endsAt: milliseconds + secondsMax * 1000,
  })
  const messages = sent.join('').split('\n\n').slice(0, -1)
  const events = messages.map((message) => JSON.parse(message.split('\ndata: ')[1] ?? ''))
  return { ...result, readAt, events, ids: events.map(({ id }) => id), seconds: secondsNow() }
}

const TIMING = { className: 'class', usual: { early: 34, median: 90 } }

/** A job that takes the course of the stages of watched-job.ts. */
function usualCourse(seconds: number): VideoJob {
  const stages: readonly [number, VideoJob][] = [
    [95, SUCCEEDED],
    [94, STORED],
    [90, FINISHED],
    [3, { ...PROCESSING, timing: TIMING }],
    [0, QUEUED],
  ]
  return stages.find(([from]) => seconds >= from)?.[1] ?? QUEUED
}

describe('following a job', () => {
  it('reads the table at most once a second, and tells each event once, until the end', async () => {
    const { end, readAt, ids, events } = await follow({ jobAt: usualCourse })
    expect(end).toBe('complete')
    expect(readAt.every((at, index) => index === 0 || at - (readAt[index - 1] ?? 0) >= 1_000)).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !id.startsWith('progress'))).toEqual([
      'queued',
      'submitted',
      'processing',
      'finished',
      'stored',
      'settled',
      'succeeded',
    ])
    const percents = events.flatMap(({ percent }) => percent ?? [])
    expect(percents).toEqual(percents.toSorted((left, right) => left - right))
    expect([percents.length > 50, percents.at(-1)]).toEqual([true, 100])
  })

  it('ends when its time is over, and another stream continues without a gap or a repeat', async () => {
    const first = await follow({ jobAt: usualCourse, secondsMax: 40 })
    expect([first.end, first.seconds]).toEqual(['time', 39])
    const next = await follow({ jobAt: (seconds) => usualCourse(seconds + 40), lastEventId: first.ids.at(-1) })
    expect(next.end).toBe('complete')
    const whole = [...first.ids, ...next.ids]
    expect(new Set(whole).size).toBe(whole.length)
    expect(whole.slice(-4)).toEqual(['stored', 'progress:100', 'settled', 'succeeded'])
  })

  it('reads nothing more once the client has left', async () => {
    const { end, readAt } = await follow({ jobAt: usualCourse, leavesAfter: 10 })
    expect([end, readAt.length]).toEqual(['left', 9])
  })

  it('ends without an end of the job when the job may not be seen any more', async () => {
    const { end, ids } = await follow({ jobAt: (seconds) => (seconds < 10 ? usualCourse(seconds) : undefined) })
    expect([end, ids.includes('succeeded')]).toEqual(['removed', false])
  })

  it('goes on while the table is out of reach', async () => {
    const failing = new Set([1, 2, 3, 50])
    expect((await follow({ jobAt: usualCourse, failing })).ids.at(-1)).toBe('succeeded')
  })

  it('waits for a callback that is due, but not for ever', async () => {
    const due = { ...SUCCEEDED, callbackUrl: 'https://hooks.example' }
    const sent = { at: 1097, attempt: 1, status: 204, milliseconds: 5, delivered: true }
    const delivered = await follow({
      jobAt: (seconds) => (seconds < 98 ? due : { ...due, callbackAttempts: [sent] }),
    })
    expect([delivered.ids.at(-1), delivered.seconds]).toEqual(['callback:1', 98])
    const never = await follow({ jobAt: () => due })
    expect([never.end, never.ids.at(-1), never.seconds]).toEqual(['complete', 'succeeded', 155])
  })

  it('never goes backwards, over any reports, lagging reads and reconnections', async () => {
    const report = fc.record({ at: fc.integer({ min: 0, max: 80 }), percent: fc.integer({ min: 0, max: 100 }) })
    await fc.assert(
      fc.asyncProperty(
        fc.array(report, { maxLength: 8 }),
        fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 7 }),
        fc.array(fc.integer({ min: 2, max: 40 }), { maxLength: 3 }),
        async (reports, lags, cuts) => {
          const jobAt = (seconds: number) => {
            const lag = lags[Math.trunc(seconds) % lags.length] ?? 0
            const job = usualCourse(Math.max(0, seconds - lag))
            const said = reports
              .toSorted((left, right) => left.at - right.at)
              .filter(({ at }) => at + 4 <= seconds - lag)
              .reduce<VideoJob['upstreamPercent']>(
                (known, { at, percent }) => withReportedPercent(known, percent, QUEUED.createdAt + at + 4),
                undefined,
              )
            return job.status === 'processing' ? { ...job, upstreamPercent: said } : job
          }
          let offset = 0
          const seen: { percent?: number; type: string; id: string }[] = []
          for (const secondsMax of [...cuts, 700]) {
            const begin = offset
            const run = await follow({
              jobAt: (at) => jobAt(at + begin),
              lastEventId: seen.at(-1)?.id ?? '',
              secondsMax,
            })
            seen.push(...run.events)
            offset += run.seconds + 1
          }
          const percents = seen.flatMap(({ percent }) => percent ?? [])
          expect(percents).toEqual(percents.toSorted((left, right) => left - right))
          expect(percents.indexOf(100)).toBe(percents.length - 1)
          expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length)
          expect(seen.at(-1)?.type).toBe('succeeded')
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('reading a followed job', () => {
  const engine = useTestTable()
  let tenant: TestTenant
  let job: VideoJob
  beforeEach(async () => {
    tenant = await openTenant(engine.table)
    const { tenantId, jobId } = await reserveJob(engine.table, tenant)
    const found = await getVideoJob(engine.table, tenantId, jobId)
    if (found === undefined) {
      throw new Error('no job')
    }
    job = found
  })

  const now = () => Date.now() / 1000
  const read = () => readFollowedJob(engine.table, job, now())

  it('makes one eventually consistent read of one item each time', async () => {
    const reads = jest.spyOn(engine.table, 'readItem')
    await read()
    expect(reads.mock.calls.map(([, options]) => options)).toEqual([{ mayLag: true }])
    reads.mockRestore()
  })

  it('sees what has changed, and nothing of a job that was deleted', async () => {
    expect((await read())?.status).toBe('queued')
    await markDeleted(engine.table, job, Date.now())
    expect(await read()).toBeUndefined()
  })
})
