import { describe, expect, it } from '@jest/globals'
import { readAudit } from '#store/audit/read-audit.ts'
import { createAdminKey, listAdminKeys, revokeAdminKey } from '#store/sessions/admin-keys.ts'
import { readPartition } from '../../engines/audit.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'

const engine = useTestTable()

describe('keys of administrators', () => {
  it('are stored as digests, listed without them, and recorded', async () => {
    const { key, listing } = await createAdminKey(engine.table, { name: 'ada', role: 'owner' }, TESTER)
    expect(key).toMatch(/^rg_admin_[0-9A-Za-z]{8}_[0-9A-Za-z]{38}$/)
    expect(JSON.stringify(await readPartition(engine.table, 'ADMINKEYS'))).not.toContain(key.slice(18))
    expect(await listAdminKeys(engine.table)).toEqual([listing])
    expect((await readAudit(engine.table, { limit: 9 })).entries).toMatchObject([
      { action: 'console key create', kind: 'console', target: listing.keyId, after: { name: 'ada', role: 'owner' } },
    ])
  })

  it('are revoked and recorded once, however many revoke them at once', async () => {
    const { listing } = await createAdminKey(engine.table, { name: 'bob', role: 'viewer' }, TESTER)
    const { keyId } = listing
    await Promise.all([1, 2, 3].map(() => revokeAdminKey(engine.table, keyId, TESTER)))
    expect(await revokeAdminKey(engine.table, keyId, TESTER)).toEqual({ ...listing, state: 'revoked' })
    const { entries } = await readAudit(engine.table, { limit: 9 })
    expect(entries.filter(({ action, target }) => action === 'console key revoke' && target === keyId)).toHaveLength(1)
  })

  it.each(['nobody00', '', 'x'.repeat(2_000)])('that do not exist, such as %j, cannot be revoked', async (keyId) => {
    await expect(revokeAdminKey(engine.table, keyId, TESTER)).rejects.toThrow(/console key list/)
  })
})
