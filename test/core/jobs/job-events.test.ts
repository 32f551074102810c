import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { eventsAfter, FIRST, isComplete, jobEvents, jobPercent, positionOf } from '#core/jobs/job-events.ts'
import { type VideoJob, withReportedPercent } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'
import { FINISHED, PROCESSING, QUEUED, STORED, SUCCEEDED } from './watched-job.ts'

const NOW = 5000
const list = (job: VideoJob, nowSeconds = NOW) => jobEvents(job, nowSeconds)
const types = (job: VideoJob, nowSeconds?: number) => list(job, nowSeconds).map(({ type }) => type)
const attempt = { at: 1097, attempt: 1, status: 500, milliseconds: 20, error: 'status 500', delivered: false }

describe('the events of a job', () => {
  it('are every stage of a job that succeeded, each with its time', () => {
    const job = { ...SUCCEEDED, callbackUrl: 'https://hooks.example', callbackAttempts: [attempt] }
    expect(list(job)).toEqual([
      { id: 'queued', type: 'queued', at: 1000 },
      { id: 'submitted', type: 'submitted', at: 1002 },
      { id: 'processing', type: 'processing', at: 1003 },
      { id: 'finished', type: 'finished', at: 1090 },
      { id: 'stored', type: 'stored', at: 1094 },
      { id: 'progress:100', type: 'progress', at: 1095, percent: 100 },
      { id: 'settled', type: 'settled', at: 1095, cost: '0.7056' },
      { id: 'succeeded', type: 'succeeded', at: 1095 },
      { id: 'callback:1', type: 'callback', at: 1097, status: 500, attempt: 1 },
    ])
  })

  it('of a job at work end with its progress at the moment of the reading', () => {
    const timed = { ...PROCESSING, timing: { className: 'class', usual: { early: 34, median: 90 } } }
    expect(list(timed, 1047.9).at(-1)).toEqual({
      id: 'progress:45',
      type: 'progress',
      at: 1047,
      percent: 45,
      eta_seconds: 45,
    })
    expect(types(PROCESSING)).toEqual(['queued', 'submitted', 'processing'])
    expect(types({ ...timed, finishedAt: 1090 })).toEqual(['queued', 'submitted', 'processing', 'finished'])
  })

  it('only grow from stage to stage: nothing that was listed disappears', () => {
    const sending: VideoJob = { ...QUEUED, submitState: 'sending', submittedAt: 1001, channelId: 'p2-direct' }
    const stages = [QUEUED, sending, QUEUED, PROCESSING, FINISHED, STORED, SUCCEEDED]
    let before: readonly string[] = []
    for (const stage of stages) {
      const now = list(stage).map(({ id }) => id)
      expect(now.slice(0, before.length)).toEqual(before)
      before = now
    }
  })

  it('of a failed job name its error, and no settlement', () => {
    const failed: VideoJob = { ...PROCESSING, status: 'failed', error: 'generation timed out', endedAt: 4602 }
    expect(list(failed).slice(-1)).toEqual([{ id: 'failed', type: 'failed', at: 4602, error: 'generation timed out' }])
    expect(types({ ...QUEUED, status: 'failed', error: 'no upstream capacity', endedAt: 4600 })).toEqual([
      'queued',
      'failed',
    ])
  })

  it('end with cancelled if the operator cancelled the job', () => {
    const error = 'cancelled by the operator'
    const [last] = list({ ...PROCESSING, status: 'failed', error, endedAt: 1050 }).slice(-1)
    expect(last).toEqual({ id: 'cancelled', type: 'cancelled', at: 1050, error })
  })

  it('never go back in time, though clocks differ', () => {
    const job = { ...SUCCEEDED, submittedAt: 999, acceptedAt: 1005, finishedAt: 1004 }
    const times = list(job).map(({ at }) => at)
    expect(times).toEqual(times.toSorted((left, right) => left - right))
  })
})

describe('the callback of a job', () => {
  const due: VideoJob = { ...SUCCEEDED, callbackUrl: 'https://hooks.example' }

  it('is an event for each attempt, with a null status where nobody responded', () => {
    const { status: _, ...silent } = attempt
    const sent = { ...due, callbackAttempts: [silent, { ...attempt, at: 1200, attempt: 2, status: 204 }] }
    expect(list(sent).slice(-2)).toEqual([
      { id: 'callback:1', type: 'callback', at: 1097, status: null, attempt: 1 },
      { id: 'callback:2', type: 'callback', at: 1200, status: 204, attempt: 2 },
    ])
  })

  it('that was sent again waits for the first', () => {
    const early = { ...due, callbackAttempts: [{ ...attempt, attempt: 2 }] }
    expect([types(early, 1100).at(-1), types(early, 1155).at(-1)]).toEqual(['succeeded', 'callback'])
  })

  it('whose outcome was never recorded is an event when it must be over', () => {
    const claimed = { ...due, callbackState: 'sent' } as const
    expect(types(claimed, 1154)).not.toContain('callback')
    expect(list(claimed, 1155).at(-1)).toEqual({
      id: 'callback:1',
      type: 'callback',
      at: 1095,
      status: null,
      attempt: 1,
    })
  })

  it('completes an ended job; without one due, its end does', () => {
    const complete = (job: VideoJob) => isComplete(job, 1100)
    expect([STORED, SUCCEEDED, due, { ...due, callbackAttempts: [attempt] }].map(complete)).toEqual([
      false,
      true,
      false,
      true,
    ])
    expect(isComplete(due, 1155)).toBe(true)
  })
})

describe('the events of a job that its client cancelled', () => {
  const cancelled: VideoJob = { ...PROCESSING, callbackUrl: 'https://hooks.example', cancelledAt: 1050 }
  const delivered = { ...cancelled, callbackAttempts: [{ ...attempt, at: 1051 }] }
  const billed: VideoJob = { ...delivered, status: 'failed', finishedAt: 1090, billed: microcredits(5), endedAt: 1091 }
  const OPEN = { status: 'processing', finishedAt: undefined, billed: undefined, endedAt: undefined } as const
  const sentAgain = {
    ...billed,
    callbackAttempts: [
      { ...attempt, at: 1051 },
      { ...attempt, at: 1200, attempt: 2 },
    ],
  }

  it('end with the cancellation at once, and show a bill that comes later behind the callback', () => {
    expect(list(sentAgain).slice(3)).toEqual([
      { id: 'cancelled', type: 'cancelled', at: 1050, error: 'cancelled by the client' },
      { id: 'callback:1', type: 'callback', at: 1051, status: 500, attempt: 1 },
      { id: 'settled:1', type: 'settled', at: 1091, cost: '0.000005' },
      { id: 'callback:2', type: 'callback', at: 1200, status: 500, attempt: 2 },
    ])
  })

  it.each([
    ['accepted before', [PROCESSING, cancelled, delivered, { ...delivered, finishedAt: 1090 }, billed, sentAgain]],
    ['sent again before its bill', [delivered, { ...sentAgain, ...OPEN }, sentAgain]],
    ['billed before its callback has an outcome', [cancelled, { ...billed, callbackAttempts: [] }, billed, sentAgain]],
    [
      'accepted afterwards',
      [
        { ...QUEUED, submitState: 'sending', submittedAt: 1049, cancelledAt: 1050 } as const,
        { ...cancelled, submittedAt: 1049, acceptedAt: 1052, callbackUrl: undefined },
        { ...billed, submittedAt: 1049, acceptedAt: 1052, callbackUrl: undefined, callbackAttempts: undefined },
      ],
    ],
  ] as const)('only grow, in the order of their positions: %s', (_, stages) => {
    let before: readonly string[] = []
    for (const stage of stages) {
      const events = list(stage, 1100)
      const ids = events.map(({ id }) => id)
      expect(ids.slice(0, before.length)).toEqual(before)
      expect(eventsAfter(events, positionOf(before.at(-1) ?? '')).map(({ id }) => id)).toEqual(ids.slice(before.length))
      before = ids
    }
  })

  it('are complete when the money is resolved, not before', () => {
    expect([cancelled, delivered, billed].map((job) => isComplete(job, 1100))).toEqual([false, false, true])
    expect(isComplete({ ...billed, callbackAttempts: undefined }, 1100)).toBe(false)
    expect(isComplete({ ...billed, callbackAttempts: undefined }, 1110)).toBe(true)
  })
})

const attempts = [1, 2, 10].map((attempt) => ({ at: 1100, attempt, milliseconds: 1, delivered: false }))
const events = jobEvents({ ...SUCCEEDED, callbackAttempts: attempts }, 5000)
const idsAfter = (id: string) => eventsAfter(events, positionOf(id)).map((event) => event.id)

describe('the position of an event', () => {
  it('lets a client continue behind each event that it has', () => {
    const ids = events.map(({ id }) => id)
    for (const [index, id] of ids.entries()) {
      expect(idsAfter(id)).toEqual(ids.slice(index + 1))
    }
    expect(eventsAfter(events, FIRST)).toEqual(events)
  })

  it('keeps progress from going backwards, and behind later stages', () => {
    const at = (percent: number) => jobEvents({ ...PROCESSING, upstreamPercent: { percent } }, 1010)
    const last = (percent: number, id: string) => eventsAfter(at(percent), positionOf(id)).map((event) => event.id)
    expect(last(37, 'progress:37')).toEqual([])
    expect(last(36, 'progress:37')).toEqual([])
    expect(last(38, 'progress:37')).toEqual(['progress:38'])
    expect(last(38, 'finished')).toEqual([])
    expect(idsAfter('progress:99')[0]).toBe('finished')
    expect(idsAfter('stored')[0]).toBe('progress:100')
    expect(idsAfter('progress:100')[0]).toBe('settled')
  })

  it.each(['', 'unknown', 'progress:', 'progress:1e3', 'queued ', `progress:${'9'.repeat(30)}`])(
    'of %j is the begin',
    (id) => {
      expect(idsAfter(id)).toHaveLength(events.length)
    },
  )
})

const timed: VideoJob = { ...PROCESSING, timing: { className: 'class', usual: { early: 34, median: 90 } } }

describe('the percentage of a job', () => {
  it('is what the upstream says, whatever is usual', () => {
    expect(jobPercent({ ...timed, upstreamPercent: { percent: 70 } }, 1047)).toEqual({ percent: 70, etaSeconds: 45 })
    expect(jobPercent({ ...timed, upstreamPercent: { percent: 7 } }, 1080)).toEqual({ percent: 7 })
    expect(jobPercent({ ...PROCESSING, upstreamPercent: { percent: 50, since: 1010 } }, 1080)).toEqual({ percent: 50 })
  })

  it('is otherwise the share of the usual time: 90 when it is over, and still growing afterwards', () => {
    expect(jobPercent(timed, 1002)).toEqual({ percent: 0, etaSeconds: 90 })
    expect(jobPercent(timed, 1047)).toEqual({ percent: 45, etaSeconds: 45 })
    expect(jobPercent(timed, 1092)).toEqual({ percent: 90 })
    expect(jobPercent(timed, 1200)).toEqual({ percent: 95 })
    expect(jobPercent(timed, 9999)?.percent).toBeLessThanOrEqual(98)
  })

  it('has no remaining time from four fifths of the usual time on, nor while the upstream is far behind', () => {
    const eta = (percent: number | undefined, seconds: number) => {
      const upstreamPercent = percent === undefined ? undefined : { percent }
      return jobPercent({ ...timed, upstreamPercent }, 1002 + seconds)?.etaSeconds
    }
    expect([eta(undefined, 72), eta(undefined, 73), eta(undefined, 90)]).toEqual([18, undefined, undefined])
    expect([eta(23, 45), eta(22, 45), eta(99, 73)]).toEqual([45, undefined, undefined])
  })

  it('is unknown before the acceptance, without any usual time, and for a failed job', () => {
    expect(jobPercent({ ...timed, status: 'queued' }, 1050)).toBeUndefined()
    expect(jobPercent(QUEUED, 1050)).toBeUndefined()
    expect(jobPercent(PROCESSING, 1050)).toBeUndefined()
    expect(jobPercent({ ...SUCCEEDED, status: 'failed' }, 1100)).toBeUndefined()
  })

  it('is 99 while the video is stored, also if the upstream says 100, and 100 after success alone', () => {
    expect(jobPercent({ ...timed, upstreamPercent: { percent: 100 } }, 1050)?.percent).toBe(99)
    expect(jobPercent(FINISHED, 1091)).toEqual({ percent: 99 })
    expect(jobPercent(STORED, 1094)).toEqual({ percent: 99 })
    expect(jobPercent(SUCCEEDED, 1095)).toEqual({ percent: 100 })
  })

  it('never goes backwards, whatever an upstream reports when, and stays whole from 0 to 100', () => {
    const step = fc.record({
      seconds: fc.integer({ min: 0, max: 60 }),
      report: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
      // A reader in another process sees the record of before the write for a moment.
      lag: fc.integer({ min: 0, max: 4 }),
    })
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined }),
        fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }),
        fc.array(step, { maxLength: 30 }),
        (median, atSubmit, steps) => {
          const usual = median === undefined ? undefined : { early: 1, median }
          const upstreamPercent = atSubmit === undefined ? undefined : withReportedPercent(undefined, atSubmit)
          let job: VideoJob = { ...PROCESSING, timing: { className: 'class', usual }, upstreamPercent }
          let now = 1002
          let last = 0
          const read = (seen: VideoJob, at: number) => {
            const reading = jobPercent(seen, at)
            const percent = reading?.percent ?? last
            expect(Number.isInteger(percent) && percent >= last && percent <= 99).toBe(true)
            expect(reading?.etaSeconds ?? 0).toBeGreaterThanOrEqual(0)
            expect(Number.isInteger(reading?.etaSeconds ?? 0)).toBe(true)
            last = percent
          }
          for (const { seconds, report, lag } of steps) {
            now += seconds
            read(job, now)
            if (report !== undefined) {
              const before = job
              job = { ...job, upstreamPercent: withReportedPercent(job.upstreamPercent, report, now) }
              read(before, now + lag)
              now += lag
              read(job, now)
            }
          }
          read({ ...job, finishedAt: now }, now)
        },
      ),
    )
  })
})
