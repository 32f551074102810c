import { describe, expect, it } from 'vitest'
import { rateHeaders } from '#middleware/rate-headers.ts'

describe('rate-headers', () => {
  it('say what is left, with the time in seconds as OpenAI writes it', () => {
    expect(rateHeaders({ limit: 60, remaining: 3, resetMilliseconds: 8_640 })).toEqual({
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '3',
      'x-ratelimit-reset-requests': '8.64s',
    })
  })

  it('are none for a key without a rate', () => {
    expect(rateHeaders(undefined)).toEqual({})
  })
})
