import { describe, expect, it } from '@jest/globals'
import { describeKeys, keyRow, stateOf } from '../../../lib/admin/keys/describe-key.ts'

const KEY = {
  keyId: 'k-1',
  tenantId: 'acme',
  name: 'web',
  state: 'active',
  suspended: false,
  models: ['chat'],
  expiresAt: Date.parse('2099-01-31T00:00:00Z'),
  endBeforeReplacement: undefined,
  ratePerMinute: 60,
  createdAt: 0,
  revision: undefined,
} as const

describe('describe-key', () => {
  it('shows a key by its public id with its limits', () => {
    expect(keyRow(KEY)).toEqual({
      id: 'k-1',
      tenant: 'acme',
      state: 'active',
      models: ['chat'],
      created_at: '1970-01-01T00:00:00.000Z',
      name: 'web',
      expires_at: '2099-01-31T00:00:00.000Z',
      rate_per_minute: 60,
    })
    expect(describeKeys([KEY]).text).toMatch(/k-1 +acme +web +active +2099-\S+ +60\/min +chat/)
  })

  it.each([
    [{ state: 'revoked', suspended: true, expiresAt: 1 }, 'revoked'],
    [{ state: 'active', suspended: true, expiresAt: 1 }, 'expired'],
    [{ state: 'active', suspended: true, expiresAt: null }, 'suspended'],
    [{ state: 'active', suspended: false, expiresAt: 3 }, 'active'],
  ] as const)('%j is %s: the first state that applies counts', (key, state) => {
    expect(stateOf(key, 2)).toBe(state)
  })
})
