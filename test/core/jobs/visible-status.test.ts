import { describe, expect, it } from '@jest/globals'
import { type VisibleStatus, visibleStatus } from '#core/jobs/visible-status.ts'
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
