import { describe, expect, it } from 'vitest'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { attemptRows, callbackOf, mayResend } from '#lambdas/admin-api/read/callback-attempts.ts'
import { videoJobRecord } from '../../engines/video-jobs.ts'

const URL_WITH_SECRET = 'https://hooks.example.com:8443/in?token=secret'
const attempt = (number: number) => ({ at: 10 + number, attempt: number, milliseconds: 5, delivered: false })
const job = (changes: Partial<VideoJob> = {}) =>
  videoJobRecord({ status: 'succeeded', callbackUrl: URL_WITH_SECRET, callbackAttempts: [attempt(1)], ...changes })

describe('callback-attempts', () => {
  it('shows the host of the url alone, and every attempt', () => {
    expect(callbackOf(job())).toEqual({
      url_host: 'hooks.example.com:8443',
      attempts: [{ at: 11, attempt: 1, status: null, milliseconds: 5, error: null, delivered: false }],
      may_resend: true,
    })
    expect(callbackOf(job({ callbackUrl: undefined }))).toBeNull()
  })

  it('lists attempts newest first, and none of a job without a url', () => {
    const rows = attemptRows(job({ callbackAttempts: [attempt(1), { ...attempt(2), status: 200, delivered: true }] }))
    expect(rows.map(({ attempt: number, status }) => [number, status])).toEqual([
      [2, 200],
      [1, null],
    ])
    expect(attemptRows(job({ callbackUrl: undefined }))).toEqual([])
  })

  it('permits a resend after the end, ten times', () => {
    expect(mayResend(job({ status: 'processing' }))).toBe(false)
    expect(mayResend(job({ callbackUrl: undefined }))).toBe(false)
    expect(mayResend(job({ callbackResends: 9 }))).toBe(true)
    expect(mayResend(job({ callbackResends: 10 }))).toBe(false)
  })
})
