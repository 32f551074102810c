import { describe, expect, it } from 'vitest'
import { ChatStreamBrokenError } from '#core/relay/chat-stream-broken-error.ts'

describe('ChatStreamBrokenError', () => {
  it('keeps the error event of the upstream, and leaves it out of its message, which is logged', () => {
    const error = new ChatStreamBrokenError('{"error":"a prompt"}')
    expect(error.payload).toBe('{"error":"a prompt"}')
    expect(error.message).not.toContain('a prompt')
  })

  it('tells a reported error from a stream that broke off', () => {
    expect(new ChatStreamBrokenError('{}').message).not.toBe(new ChatStreamBrokenError().message)
  })
})
