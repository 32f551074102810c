import { describe, expect, it } from 'vitest'
import { microcredits } from '#core/money.ts'
import { videoRow } from '#lambdas/admin-api/read/video-row.ts'
import { videoJobRecord } from '../../engines/video-jobs.ts'

const ACME = { id: 'acme', name: 'Acme' }
const CREATED = 1_795_000_000

describe('videoRow', () => {
  it('shows a queued job with nulls for what is not known yet', () => {
    const job = videoJobRecord({ createdAt: CREATED })
    expect(videoRow(job, ACME, CREATED + 1)).toMatchObject({
      ...{ tenant: ACME, status: 'queued', created_at: CREATED, ended_at: null, duration: null, resolution: null },
      ...{ channel: null, cost: null, estimate: '0.7', percent: null, error: null },
    })
  })

  it('shows length and resolution as asked for until the video is stored', () => {
    const timing = { className: 'upstream#model#5#720P' }
    const job = videoJobRecord({ createdAt: CREATED, status: 'processing', timing, channelId: 'p2' })
    expect(videoRow(job, ACME, CREATED)).toMatchObject({ duration: 5, resolution: '720P', channel: 'p2' })
    expect(videoRow({ ...job, storedDurationSeconds: '5.04' }, ACME, CREATED)).toMatchObject({ duration: 5.04 })
    expect(videoRow({ ...job, storedDurationSeconds: '' }, ACME, CREATED)).toMatchObject({ duration: 5 })
  })

  it('shows the bill of a job that succeeded, and no cost for a job that failed', () => {
    const end = { createdAt: CREATED, endedAt: CREATED + 9 }
    const done = videoJobRecord({ ...end, status: 'succeeded', billed: microcredits(100_000) })
    expect(videoRow(done, ACME, CREATED + 9)).toMatchObject({ cost: '0.1', percent: 100, ended_at: CREATED + 9 })
    const failed = videoJobRecord({ ...end, status: 'failed', error: 'refused' })
    expect(videoRow(failed, ACME, CREATED + 9)).toMatchObject({ cost: '0', percent: null, error: 'refused' })
  })
})
