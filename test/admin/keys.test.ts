import { describe, expect, it } from '@jest/globals'
import { parseCredits, ZERO } from '#core/money.ts'
import { keyJson, stateOf } from '#lambdas/admin/keys.ts'
import { endAfterRotation, replaceKey, requireUsable } from '#lambdas/admin/keys.writes.ts'
import { getApiKey } from '#store/keys/api-keys.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, TESTER } from '../engines/video-jobs.ts'

describe('stateOf', () => {
  it.each([
    [{ state: 'revoked', suspended: true, expiresAt: 1 }, 'revoked'],
    [{ state: 'active', suspended: true, expiresAt: 1 }, 'expired'],
    [{ state: 'active', suspended: true, expiresAt: null }, 'suspended'],
    [{ state: 'active', suspended: false, expiresAt: 3 }, 'active'],
  ] as const)('%j is %s: the first state that applies counts', (key, state) => {
    expect(stateOf(key, 2)).toBe(state)
  })
})

const KEY = {
  ...({ keyId: 'k1', tenantId: 'acme', name: null, state: 'active', suspended: false, models: null } as const),
  ...{ expiresAt: 9_000, endBeforeReplacement: undefined, ratePerMinute: 5, createdAt: 1_999, revision: 2 },
  budget: { id: 'k1', kind: 'total' } as const,
}
const FIVE = parseCredits('5')

describe('keyJson', () => {
  it('shows times in ISO 8601 and the budget as it counts now, and nothing else of the key', () => {
    const budget = {
      amount: FIVE,
      period: { kind: 'total', id: 'total' } as const,
      spent: ZERO,
      held: ZERO,
      left: FIVE,
      free: FIVE,
    }
    expect(keyJson(KEY, budget, 8_000)).toEqual({
      ...{ id: 'k1', name: null, tenant: 'acme', state: 'active', models: null, rate_per_minute: 5 },
      budget: { amount: '5', period: 'total', spent: '0', held: '0', left: '5', resets_at: null },
      ...{ created_at: '1970-01-01T00:00:01.999Z', expires_at: '1970-01-01T00:00:09.000Z' },
    })
    expect(keyJson(KEY, undefined, 9_000)).toMatchObject({ state: 'expired', budget: null })
  })
})

describe('replaceKey', () => {
  const engine = useTestTable()

  it('makes one successor of a key that two owners rotate at once, and says when the old key ends', async () => {
    const { table } = engine
    const keyId = (await openTenant(table)).keyDigest.slice(0, 8)
    const { listing } = await getApiKey(table, keyId)
    expect(endAfterRotation(listing)).toBeUndefined()
    const now = Date.now()
    const rotate = () =>
      replaceKey(table, listing, {
        overlapMilliseconds: 60_000,
        endsAt: undefined,
        actor: TESTER,
        nowMilliseconds: now,
      })
    const outcomes = await Promise.allSettled([rotate(), rotate(), rotate()])
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const end = endAfterRotation((await getApiKey(table, keyId)).listing)
    expect(end).toBe(Math.trunc((now + 60_000) / 1000) * 1000)
  })

  it('refuses a revoked key', async () => {
    const { table } = engine
    const keyId = (await openTenant(table)).keyDigest.slice(0, 8)
    await revokeApiKey(table, keyId, TESTER)
    const { listing } = await getApiKey(table, keyId)
    expect(() => requireUsable(listing, 0)).toThrow(`key ${keyId} is revoked: it cannot be used any more`)
  })
})
