import { describe, expect, it } from 'vitest'
import { VerificationRate } from '#lambdas/admin-api/read/verification-rate.ts'

const NOW = 1_800_000_000_000

describe('VerificationRate', () => {
  it('verify-ledger 429: one at a time for a session, and others by themselves', () => {
    const rate = new VerificationRate()
    const end = rate.begin('s1', NOW)
    expect(() => rate.begin('s1', NOW)).toThrow(expect.objectContaining({ statusCode: 429, retryAfterSeconds: 5 }))
    rate.begin('s2', NOW)()
    end()
    rate.begin('s1', NOW)
  })

  it('verify-ledger 429: the seventh within a minute of the first', () => {
    const rate = new VerificationRate()
    for (let count = 0; count < 6; count += 1) {
      rate.begin('s1', NOW + count * 1_000)()
    }
    expect(() => rate.begin('s1', NOW + 30_000)).toThrow(expect.objectContaining({ retryAfterSeconds: 30 }))
    rate.begin('s1', NOW + 60_000)()
    expect(() => rate.begin('s1', NOW + 60_000)).toThrow('too many verifications')
  })
})
