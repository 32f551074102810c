import { describe, expect, it } from 'vitest'
import { resendRefusal } from '#core/jobs/callback-resend.ts'
import { videoJobRecord } from '../../engines/video-job-record.ts'

const ended = videoJobRecord({ status: 'failed', callbackUrl: 'https://example.com/hook' })

describe('resendRefusal', () => {
  it('allows ten resends of an ended job, whether or not the automatic callback was sent', () => {
    const counts = [undefined, 0, 1, 9, 10, 11]
    const refusals = counts.map((callbackResends) => resendRefusal({ ...ended, callbackResends }))
    const limit = 'the callback was sent again 10 times: fetch the job instead'
    expect(refusals).toEqual([undefined, undefined, undefined, undefined, limit, limit])
  })

  it('allows a resend for a cancelled job, whose upstream may still work', () => {
    expect(resendRefusal({ ...ended, status: 'processing', cancelledAt: 5 })).toBeUndefined()
  })

  it('refuses open jobs, and jobs without a url', () => {
    expect(resendRefusal({ ...ended, status: 'processing' })).toMatch('has not ended')
    expect(resendRefusal({ ...ended, callbackUrl: undefined })).toMatch('without a callback_url')
  })
})
