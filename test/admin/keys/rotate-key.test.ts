import { describe, expect, it } from 'vitest'
import { endAfterRotation, requireUsable, rotateKey } from '#lambdas/admin/keys/rotate-key.ts'
import { getApiKey, revokeApiKey } from '#store/keys/api-keys.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()

describe('rotate-key', () => {
  it('makes one successor of a key that two owners rotate at once, and says when the old key ends', async () => {
    const { table } = engine
    const keyId = (await openTenant(table)).keyDigest.slice(0, 8)
    const { listing } = await getApiKey(table, keyId)
    expect(endAfterRotation(listing)).toBeUndefined()
    const now = Date.now()
    const rotate = () =>
      rotateKey(table, listing, { overlapMilliseconds: 60_000, endsAt: undefined, actor: TESTER, nowMilliseconds: now })
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
