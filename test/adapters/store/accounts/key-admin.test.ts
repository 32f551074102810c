import { beforeAll, describe, expect, it } from 'vitest'
import { getApiKey } from '#adapters/store/accounts/api-key-listing.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { type TableWithClient, tableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

const storeKey = (keyId: string) =>
  putApiKey(table, { keyId, tenantId: 'acme', models: null, createdAt: 1, digest: `digest-of-${keyId}` }, TESTER)
const revocations = async (keyId: string) =>
  (await readAudit(table, { limit: 10, targets: [keyId] })).entries.filter(({ action }) => action === 'key revoke')

describe('key-admin: a revocation', () => {
  it('is recorded once, with the actor, however often it is repeated', async () => {
    await storeKey('one')
    for (const name of ['alice', 'bob']) {
      await revokeApiKey(table, 'one', { name, role: 'operator' })
    }
    expect(await revocations('one')).toMatchObject([
      { actor: 'alice', kind: 'key', tenant: 'acme', before: { state: 'active' }, after: { state: 'revoked' } },
    ])
  })

  it('is recorded once where several commands revoke a key at once', async () => {
    await storeKey('two')
    await Promise.all(Array.from({ length: 5 }, () => revokeApiKey(table, 'two', TESTER)))
    expect((await getApiKey(table, 'two')).listing.state).toBe('revoked')
    expect(await revocations('two')).toHaveLength(1)
  })

  it.each(['reply_lost', 'request_lost'] as const)(
    'is recorded if it happened, and not otherwise: %s',
    async (kind) => {
      await storeKey(kind)
      const patient = tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })
      breakConnection(patient, ':revoked', { kind, times: 8 })
      await expect(revokeApiKey(patient, kind, TESTER)).rejects.toThrow()
      const isRevoked = (await getApiKey(table, kind)).listing.state === 'revoked'
      expect(isRevoked).toBe(kind === 'reply_lost')
      expect(await revocations(kind)).toHaveLength(isRevoked ? 1 : 0)
      await revokeApiKey(table, kind, TESTER)
      expect(await revocations(kind)).toHaveLength(1)
    },
  )
})
