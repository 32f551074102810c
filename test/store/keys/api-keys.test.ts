import { beforeAll, describe, expect, it } from '@jest/globals'
import { readAudit } from '#store/audit/read-audit.ts'
import {
  endPlaygroundKeys,
  getApiKey,
  hasNoNewPlaygroundKey,
  listApiKeys,
  readPlaygroundKeys,
} from '#store/keys/api-keys.ts'
import { putApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { breakConnection, tableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'

describe('getApiKey and listApiKeys', () => {
  const { table } = useTestTable()
  beforeAll(async () => {
    await putApiKey(
      table,
      { keyId: 'one', tenantId: 'acme', models: ['chat'], createdAt: 1_000, digest: 'digest-1' },
      TESTER,
    )
    await putApiKey(
      table,
      {
        keyId: 'two',
        tenantId: 'acme',
        models: null,
        createdAt: 2_000,
        digest: 'digest-2',
        name: 'web',
        expiresAt: 5_999,
        ratePerMinute: 60,
      },
      TESTER,
    )
  })

  const TWO = {
    keyId: 'two',
    tenantId: 'acme',
    name: 'web',
    state: 'active',
    suspended: false,
    models: null,
    expiresAt: 5_000,
    endBeforeReplacement: undefined,
    ratePerMinute: 60,
    budget: null,
    createdAt: 2_000,
  }

  it('show a key with what its changes need, and no digest in the listing', async () => {
    expect(await getApiKey(table, 'two')).toEqual({
      listing: TWO,
      digest: 'digest-2',
      playground: { keys: [], revision: undefined },
    })
  })

  it('show all keys, with null for what they do not have', async () => {
    const one = { ...TWO, keyId: 'one', name: null, models: ['chat'], expiresAt: null, ratePerMinute: null }
    expect(await listApiKeys(table)).toEqual([{ ...one, createdAt: 1_000 }, TWO])
  })

  it('refuse an unknown key by its id', async () => {
    await expect(getApiKey(table, 'three')).rejects.toMatchObject({
      code: 'not_found',
      message: 'no key three',
    })
  })
})

describe('revokeApiKey: a revocation', () => {
  const engine = useTestTable()
  const { table } = engine

  const storeKey = (keyId: string) =>
    putApiKey(table, { keyId, tenantId: 'acme', models: null, createdAt: 1, digest: `digest-of-${keyId}` }, TESTER)
  const revocations = async (keyId: string) =>
    (await readAudit(table, { limit: 10, targets: [keyId] })).entries.filter(({ action }) => action === 'key revoke')

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
      breakConnection(patient, 'SET #state', { kind, times: 8 })
      await expect(revokeApiKey(patient, kind, TESTER)).rejects.toThrow()
      const isRevoked = (await getApiKey(table, kind)).listing.state === 'revoked'
      expect(isRevoked).toBe(kind === 'reply_lost')
      expect(await revocations(kind)).toHaveLength(isRevoked ? 1 : 0)
      await revokeApiKey(table, kind, TESTER)
      expect(await revocations(kind)).toHaveLength(1)
    },
  )
})

const KEYS = [
  { digest: 'one', sessionId: 's', expiresAt: 10 },
  { digest: 'two', sessionId: 's', expiresAt: 20 },
]

describe('the playground keys of a session', () => {
  it('are none of a parent that never made a key', () => {
    expect(readPlaygroundKeys({ PK: 'KEYS' })).toEqual({ keys: [], revision: undefined })
    expect(readPlaygroundKeys({ playgroundKeys: KEYS, playgroundRevision: 2 })).toEqual({ keys: KEYS, revision: 2 })
  })

  it('end while they live: an expired one may be gone from the table', () => {
    const writes = Object.values(endPlaygroundKeys(KEYS, 10_000))
    expect(writes).toMatchObject([{ Update: { Key: { PK: 'K#two' } } }])
  })

  it('are proved not to have been made since the parent was read', () => {
    expect(hasNoNewPlaygroundKey({ keys: [], revision: undefined }).condition).toBe(
      'attribute_not_exists(playgroundRevision)',
    )
    expect(hasNoNewPlaygroundKey({ keys: [], revision: 3 }).values).toEqual({ ':was_playgroundRevision': 3 })
  })
})
