import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jobPercent } from '#core/jobs/job-percent.ts'
import { withReportedPercent } from '#core/jobs/reported-percent.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { FINISHED, PROCESSING, QUEUED, STORED, SUCCEEDED } from './watched-job.ts'

const timed: VideoJob = { ...PROCESSING, timing: { className: 'class', usual: { early: 34, median: 90 } } }

describe('the percentage of a job', () => {
  it('is what the upstream says, whatever is usual', () => {
    expect(jobPercent({ ...timed, upstreamPercent: { percent: 7 } }, 1080)).toEqual({ percent: 7, etaSeconds: 12 })
    expect(jobPercent({ ...PROCESSING, upstreamPercent: { percent: 50, since: 1010 } }, 1080)).toEqual({ percent: 50 })
  })

  it('is otherwise the share of the usual time: 90 when it is over, and still growing afterwards', () => {
    expect(jobPercent(timed, 1002)).toEqual({ percent: 0, etaSeconds: 90 })
    expect(jobPercent(timed, 1047)).toEqual({ percent: 45, etaSeconds: 45 })
    expect(jobPercent(timed, 1092)).toEqual({ percent: 90, etaSeconds: 0 })
    expect(jobPercent(timed, 1200)).toEqual({ percent: 95 })
    expect(jobPercent(timed, 9999)?.percent).toBeLessThanOrEqual(98)
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
