import { describe, expect, it } from 'vitest'
import {
  hasEnded,
  isUnwanted,
  unexpiredStatus,
  type VisibleStatus,
  visibleError,
  visibleStatus,
} from '#core/jobs/visible-status.ts'
import { videoJobRecord } from '../../engines/video-job-record.ts'

describe('visibleStatus', () => {
  it.each<[VisibleStatus, number]>([
    ['succeeded', -1],
    ['expired', 0],
    ['expired', 1],
  ])('is %s %i seconds after the end of the lifetime', (status, seconds) => {
    const job = videoJobRecord({ status: 'succeeded' })
    expect(visibleStatus(job, job.expiresAt + seconds)).toBe(status)
  })
})

describe('a job that its client has cancelled', () => {
  const open = videoJobRecord({ status: 'processing', cancelledAt: 5 })

  it('reads failed at once, with its error, until it expires', () => {
    expect([unexpiredStatus(open), visibleError(open), hasEnded(open)]).toEqual([
      'failed',
      'cancelled by the client',
      true,
    ])
    expect(visibleStatus(open, open.expiresAt - 1)).toBe('failed')
    expect(visibleStatus(open, open.expiresAt)).toBe('expired')
  })

  it('keeps an error that was recorded at its end', () => {
    expect(visibleError({ ...open, error: 'cancelled by the operator' })).toBe('cancelled by the operator')
  })

  it('is unwanted, like a deleted one', () => {
    const wanted = videoJobRecord({ status: 'processing' })
    expect([open, videoJobRecord({ isDeleted: true }), wanted].map(isUnwanted)).toEqual([true, true, false])
    expect([hasEnded(wanted), visibleError(wanted)]).toEqual([false, ''])
  })
})
