import { describe, expect, it } from 'vitest'
import { afterChunk, FIRST_REPLY, plainNumber } from '../../../../web/src/core/playground/chat-reply.ts'

describe('afterChunk', () => {
  it('collects the content, the time of its first piece, and the usage with its cost', () => {
    const chunks = [
      '{"choices":[{"delta":{"role":"assistant"}}]}',
      '{"choices":[{"delta":{"content":"hel"}}]}',
      '{"choices":[{"delta":{"content":"lo"}}]}',
      '{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"cost":0.0000021}}',
      '[DONE]',
    ]
    const reply = chunks.reduce((before, chunk, index) => afterChunk(before, chunk, index * 10), FIRST_REPLY)
    expect(reply).toEqual({
      content: 'hello',
      firstMilliseconds: 10,
      totalMilliseconds: 40,
      inputTokens: 7,
      outputTokens: 2,
      cost: 0.0000021,
      error: undefined,
      isDone: true,
    })
  })

  it('keeps what has arrived when the stream ends with an error', () => {
    const begun = afterChunk(FIRST_REPLY, '{"choices":[{"delta":{"content":"hel"}}]}', 5)
    expect(afterChunk(begun, '{"error":{"message":"the upstream broke off"}}', 9)).toMatchObject({
      content: 'hel',
      error: 'the upstream broke off',
    })
  })
})

describe('plainNumber', () => {
  it('writes small numbers of credits without an exponent', () => {
    expect([0.0000021, 1.5, 2, 0].map(plainNumber)).toEqual(['0.0000021', '1.5', '2', '0'])
  })
})
