import { describe, expect, it } from 'vitest'
import { parseCredits, ZERO } from '#core/money.ts'
import { keyView } from '#lambdas/admin/keys/key-view.ts'

const KEY = {
  ...({ keyId: 'k1', tenantId: 'acme', name: null, state: 'active', suspended: false, models: null } as const),
  ...{ expiresAt: 9_000, endBeforeReplacement: undefined, ratePerMinute: 5, createdAt: 1_999, revision: 2 },
  budget: { id: 'k1', kind: 'total' } as const,
}
const FIVE = parseCredits('5')

describe('key-view', () => {
  it('shows times in Unix seconds and the budget as it counts now, and nothing else of the key', () => {
    const budget = {
      amount: FIVE,
      period: { kind: 'total', id: 'total' } as const,
      spent: ZERO,
      held: ZERO,
      left: FIVE,
      free: FIVE,
    }
    expect(keyView(KEY, budget, 8_000)).toEqual({
      ...{ id: 'k1', name: null, tenant: 'acme', state: 'active', models: null, rate_per_minute: 5 },
      budget: { amount: '5', period: 'total', spent: '0', held: '0', resets_at: null },
      ...{ created_at: 1, expires_at: 9, last_used_at: null },
    })
    expect(keyView(KEY, undefined, 9_000)).toMatchObject({ state: 'expired', budget: null })
  })
})
