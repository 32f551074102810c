import { describe, expect, it } from 'vitest'
import { isVideoOperation } from '#web/core/video-operation.ts'

describe('isVideoOperation', () => {
  it('knows ledger rows of video jobs, which have a page', () => {
    expect(['create-video-job', 'create-chat-completion', null].map(isVideoOperation)).toEqual([true, false, false])
  })
})
