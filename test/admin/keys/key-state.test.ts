import { describe, expect, it } from 'vitest'
import { stateOf } from '#lambdas/admin/keys/key-state.ts'

describe('key-state', () => {
  it.each([
    [{ state: 'revoked', suspended: true, expiresAt: 1 }, 'revoked'],
    [{ state: 'active', suspended: true, expiresAt: 1 }, 'expired'],
    [{ state: 'active', suspended: true, expiresAt: null }, 'suspended'],
    [{ state: 'active', suspended: false, expiresAt: 3 }, 'active'],
  ] as const)('%j is %s: the first state that applies counts', (key, state) => {
    expect(stateOf(key, 2)).toBe(state)
  })
})
