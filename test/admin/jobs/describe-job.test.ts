import { describe, expect, it } from 'vitest'
import { describeJob, jobRow } from '../../../lib/cli/admin/jobs.ts'
import { videoJobRecord } from '../../engines/video-job-record.ts'

const job = videoJobRecord({ createdAt: 1_900_000_000 })

describe('describe-job: jobRow', () => {
  it('has null for what has not happened yet', () => {
    expect(jobRow(job)).toMatchObject({
      ...{ id: job.jobId, tenant: job.tenantId, status: 'queued', deleted: false },
      ...{ channel: null, error: null, cause: null, created_at: '2030-03-17T17:46:40.000Z' },
    })
  })

  it('has the failure until the job has its error, and the cause of a wait, without urls', () => {
    expect(jobRow({ ...job, failure: 'no', failureCause: 'HTTP 401 at https://a/b' })).toMatchObject({
      error: 'no',
      cause: 'HTTP 401 at <url>',
    })
    expect(jobRow({ ...job, failure: 'no', error: 'refused at https://a/b' })).toMatchObject({
      error: 'refused at <url>',
    })
  })
})

describe('describe-job: describeJob', () => {
  it.each([
    [{}, 'none'],
    [{ callbackUrl: 'https://hooks.example/secret' }, 'not sent'],
    [{ callbackUrl: 'https://hooks.example/secret', callbackState: 'sent' as const }, 'sent'],
  ])('of %j says whether the callback was sent, and never its url', (more, callback) => {
    const described = describeJob({ ...job, ...more }, undefined, [])
    expect(described).toMatchObject({ callback, reservation: null, stored: false, ended_at: null })
    expect(JSON.stringify(described)).not.toContain('secret')
  })

  it('ends when its money was resolved', () => {
    const at = '2030-03-17T17:47:00.000Z'
    const entry = (kind: 'reserve' | 'settle') => ({ kind, job: job.jobId, amount: '0.7', actual: null, at })
    expect(describeJob(job, undefined, [entry('reserve')]).ended_at).toBeNull()
    expect(describeJob(job, undefined, [entry('settle'), entry('reserve')]).ended_at).toBe(at)
  })
})
