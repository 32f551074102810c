import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { isPlausibleKey, keyIdOf } from '#core/api-key.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { findCaller } from '#store/callers.ts'
import { getApiKey, listApiKeys } from '#store/keys/api-keys.ts'
import { generateApiKey, type KeySettings, putApiKey, setApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { readPartition } from '../../engines/audit.ts'
import { breakConnection, type TableWithClient, tableWithClient } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { ESTIMATE, openTenant, reserveJob, TESTER, type TestTenant } from '../../engines/video-jobs.ts'

describe('an api key', () => {
  const NOW = 1_800_000_000

  const engine = useTestTable()
  const { table } = engine

  const key = (keyId: string, models: string[] | null = null) => ({
    keyId,
    tenantId: 'tenant',
    models,
    createdAt: 1_000,
    digest: `digest-of-${keyId}`,
  })

  const actionsOn = async (keyId: string) =>
    (await readAudit(table, { limit: 10, targets: [keyId] })).entries.map(({ action }) => action)

  it('is found by its digest, with its tenant and its models', async () => {
    await putApiKey(table, key('one', ['famA-2']), TESTER)
    expect(await findCaller(table, 'digest-of-one', NOW)).toEqual({
      tenantId: 'tenant',
      keyId: 'one',
      keyDigest: 'digest-of-one',
      models: ['famA-2'],
    })
    expect(await findCaller(table, 'digest-of-nobody', NOW)).toBeUndefined()
  })

  it('is not found any more once it is revoked, while another of the tenant still is', async () => {
    await putApiKey(table, key('old'), TESTER)
    await putApiKey(table, key('new'), TESTER)
    await revokeApiKey(table, 'old', TESTER)
    expect(await findCaller(table, 'digest-of-old', NOW)).toBeUndefined()
    expect(await findCaller(table, 'digest-of-new', NOW)).toMatchObject({ keyId: 'new' })
  })

  it('is revoked together with its listing, or not at all', async () => {
    await putApiKey(table, key('torn'), TESTER)
    const patient = tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })
    breakConnection(patient, 'SET #state', { kind: 'request_lost', times: 8 })
    await expect(revokeApiKey(patient, 'torn', TESTER)).rejects.toThrow()
    expect(await findCaller(table, 'digest-of-torn', NOW)).toMatchObject({ keyId: 'torn' })
    expect((await listApiKeys(table)).find(({ keyId }) => keyId === 'torn')?.state).toBe('active')
    await revokeApiKey(patient, 'torn', TESTER)
    expect(await findCaller(table, 'digest-of-torn', NOW)).toBeUndefined()
    expect((await listApiKeys(table)).find(({ keyId }) => keyId === 'torn')?.state).toBe('revoked')
  })

  it('ends in the very second', async () => {
    await putApiKey(table, key('short'), TESTER)
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.apiKey('digest-of-short'),
        UpdateExpression: 'SET expiresAt = :at',
        ExpressionAttributeValues: { ':at': NOW },
      }),
    )
    expect(await findCaller(table, 'digest-of-short', NOW - 1)).toMatchObject({ keyId: 'short' })
    expect(await findCaller(table, 'digest-of-short', NOW)).toBeUndefined()
  })

  it('carries its name, its end and its rate to the listing, and what a request needs of them to the caller', async () => {
    await putApiKey(
      table,
      { ...key('full'), name: 'web shop', expiresAt: NOW * 1000 + 999, ratePerMinute: 120 },
      TESTER,
    )
    expect((await listApiKeys(table)).find(({ keyId }) => keyId === 'full')).toMatchObject({
      name: 'web shop',
      expiresAt: NOW * 1000,
      ratePerMinute: 120,
    })
    expect(await findCaller(table, 'digest-of-full', NOW - 1)).toMatchObject({ ratePerMinute: 120 })
    expect(await findCaller(table, 'digest-of-full', NOW)).toBeUndefined()
  })

  it('ends when the one that replaces it says, sooner or later, which its listing shows', async () => {
    await putApiKey(table, key('rotated'), TESTER)
    const replacement = (keyId: string, endsAt: number, expiresAt: number | null) => ({
      ...key(keyId),
      replaces: { keyId: 'rotated', endsAt, expiresAt },
    })
    await putApiKey(table, replacement('next', NOW * 1000, null), TESTER)
    expect(await findCaller(table, 'digest-of-rotated', NOW)).toBeUndefined()
    expect(await findCaller(table, 'digest-of-next', NOW)).toMatchObject({ keyId: 'next' })
    await putApiKey(table, replacement('last', NOW * 1000 + 5_999, NOW * 1000), TESTER)
    expect(await findCaller(table, 'digest-of-rotated', NOW + 4)).toMatchObject({ keyId: 'rotated' })
    const listing = (await listApiKeys(table)).find(({ keyId }) => keyId === 'rotated')
    expect(listing).toMatchObject({ expiresAt: NOW * 1000 + 5_000, endBeforeReplacement: null })
  })

  it('has no successor that is made while it is revoked', async () => {
    await putApiKey(table, key('leaked'), TESTER)
    await revokeApiKey(table, 'leaked', TESTER)
    const replaces = { keyId: 'leaked', endsAt: NOW * 1000, expiresAt: null }
    const late = putApiKey(table, { ...key('late'), replaces }, TESTER)
    await expect(late).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(await findCaller(table, 'digest-of-late', NOW)).toBeUndefined()
    expect(await findCaller(table, 'digest-of-leaked', NOW)).toBeUndefined()
  })

  it('has one successor of many that are made at the same time', async () => {
    await putApiKey(table, { ...key('wanted'), expiresAt: NOW * 1000 + 9_000 }, TESTER)
    const replaces = { keyId: 'wanted', endsAt: NOW * 1000, expiresAt: NOW * 1000 + 9_000 }
    const made = await Promise.allSettled(
      ['s1', 's2', 's3'].map((id) => putApiKey(table, { ...key(id), replaces }, TESTER)),
    )
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    const refused = made.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    expect(refused).toEqual([
      expect.objectContaining({ code: 'changed_meanwhile' }),
      expect.objectContaining({ code: 'changed_meanwhile' }),
    ])
    const listings = await listApiKeys(table)
    expect(listings.filter(({ keyId }) => /^s\d$/.test(keyId))).toHaveLength(1)
    expect(listings.find(({ keyId }) => keyId === 'wanted')?.endBeforeReplacement).toBe(NOW * 1000 + 9_000)
  })

  it.each(['digest-of-heir', ':expiresAt'])(
    'ends together with the storing of the one that replaces it, or not at all: %s is lost',
    async (lost) => {
      await putApiKey(table, key('kept'), TESTER)
      const patient = tableWithClient({ ...(await engine.fresh()), name: table.name, pause: async () => {} })
      breakConnection(patient, lost, { kind: 'request_lost', times: 8 })
      const heir = { ...key('heir'), replaces: { keyId: 'kept', endsAt: NOW * 1000, expiresAt: null } }
      await expect(putApiKey(patient, heir, TESTER)).rejects.toThrow()
      const kept = (await listApiKeys(table)).filter(({ keyId }) => keyId === 'kept' || keyId === 'heir')
      expect(kept).toEqual([expect.objectContaining({ keyId: 'kept', expiresAt: null })])
      expect(await findCaller(table, 'digest-of-kept', NOW)).toMatchObject({ keyId: 'kept' })
      expect(await findCaller(table, 'digest-of-heir', NOW)).toBeUndefined()
    },
  )

  it.each([0, 1.5, -1, 60_001])('is not stored with a rate of %s', async (ratePerMinute) => {
    await expect(putApiKey(table, { ...key('rated'), ratePerMinute }, TESTER)).rejects.toBeInstanceOf(RangeError)
    expect((await listApiKeys(table)).map(({ keyId }) => keyId)).not.toContain('rated')
  })

  it('that nobody has is replaced by none', async () => {
    const replaces = { keyId: 'nobody', endsAt: NOW * 1000, expiresAt: null }
    await expect(putApiKey(table, { ...key('orphan'), replaces }, TESTER)).rejects.toMatchObject({ code: 'not_found' })
    expect((await listApiKeys(table)).map(({ keyId }) => keyId)).not.toContain('orphan')
  })

  it('that nobody has cannot be revoked, and revoking makes no key', async () => {
    await expect(revokeApiKey(table, 'nobody', TESTER)).rejects.toMatchObject({ code: 'not_found' })
    expect((await listApiKeys(table)).map(({ keyId }) => keyId)).not.toContain('nobody')
  })

  it('is listed with its state and never with its digest', async () => {
    await putApiKey(table, key('listed'), TESTER)
    await revokeApiKey(table, 'listed', TESTER)
    const listing = (await listApiKeys(table)).find(({ keyId }) => keyId === 'listed')
    expect(listing).toEqual({
      keyId: 'listed',
      budget: null,
      tenantId: 'tenant',
      name: null,
      state: 'revoked',
      suspended: false,
      models: null,
      expiresAt: null,
      ratePerMinute: null,
      createdAt: 1_000,
    })
  })

  it('stored again is active again, with its new limits', async () => {
    await putApiKey(table, key('again'), TESTER)
    await revokeApiKey(table, 'again', TESTER)
    await putApiKey(table, key('again', ['famA-2']), TESTER)
    expect(await findCaller(table, 'digest-of-again', NOW)).toMatchObject({ models: ['famA-2'] })
  })

  it('stored again with the same limits writes nothing, and with others raises its revision', async () => {
    await putApiKey(table, key('same'), TESTER)
    await putApiKey(table, { ...key('same'), createdAt: 9_000 }, TESTER)
    expect((await listApiKeys(table)).find(({ keyId }) => keyId === 'same')?.createdAt).toBe(1_000)
    await putApiKey(table, key('same', ['famA-2']), TESTER)
    expect(await findCaller(table, 'digest-of-same', NOW)).toMatchObject({ models: ['famA-2'], revision: 1 })
    expect(await actionsOn('same')).toEqual(['key create', 'key create'])
  })

  it('that replaces one is recorded once, as a rotation of the old one', async () => {
    await putApiKey(table, key('turned'), TESTER)
    const replaces = { keyId: 'turned', endsAt: NOW * 1000, expiresAt: null }
    await putApiKey(table, { ...key('turning'), replaces }, TESTER)
    const { entries } = await readAudit(table, { limit: 10, targets: ['turned'] })
    // Entries of one millisecond have no order.
    expect(entries.map(({ action }) => action).sort()).toEqual(['key create', 'key rotate'])
    expect(entries.find(({ action }) => action === 'key rotate')).toMatchObject({
      tenant: 'tenant',
      before: { expires: null },
      after: { expires: new Date(NOW * 1000).toISOString(), replacedBy: 'turning' },
    })
    expect(await actionsOn('turning')).toEqual(['key rotate'])
  })

  it('does not replace one that was changed since it was read', async () => {
    await putApiKey(table, key('moving'), TESTER)
    await setApiKey(table, { keyId: 'moving', settings: { models: ['famA-2'] }, actor: TESTER })
    const heir = { ...key('blind'), replaces: { keyId: 'moving', endsAt: NOW * 1000, expiresAt: null } }
    await expect(putApiKey(table, heir, TESTER)).rejects.toMatchObject({ code: 'changed_meanwhile' })
    expect(await actionsOn('blind')).toEqual([])
    await putApiKey(table, { ...heir, replaces: { ...heir.replaces, revision: 1 } }, TESTER)
    expect(await actionsOn('blind')).toEqual(['key rotate'])
  })
})

describe('a generated key', () => {
  const { table } = useTestTable()

  it('is plausible by its own checksum and never the same', () => {
    const keys = Array.from({ length: 100 }, generateApiKey)
    expect(keys.every(isPlausibleKey)).toBe(true)
    expect(new Set(keys).size).toBe(100)
  })

  it('is stored by its digest alone', async () => {
    const key = generateApiKey()
    const keyId = await storeApiKey(table, { key, tenantId: 'tenant', models: ['famA-2'] }, TESTER)
    expect(keyId).toBe(keyIdOf(key))
    expect(await findCaller(table, sha256Hex(key), 0)).toMatchObject({ tenantId: 'tenant', models: ['famA-2'] })
    const written = [...(await readPartition(table, 'KEYS')), ...(await readPartition(table, `K#${sha256Hex(key)}`))]
    expect(written.length).toBeGreaterThan(0)
    expect(JSON.stringify(written)).not.toContain(key)
  })

  it('of another shape is known by the beginning of its digest', async () => {
    const keyId = await storeApiKey(table, { key: 'local-key', tenantId: 'tenant', models: null }, TESTER)
    expect(keyId).toBe(sha256Hex('local-key').slice(0, 8))
  })
})

describe('changes of the settings of a key', () => {
  const ACTOR = { name: 'alice', role: 'operator' } as const
  const END = Date.parse('2099-01-31T00:00:00Z')

  const engine = useTestTable()
  let table: TableWithClient
  let tenant: TestTenant
  let keyId: string
  beforeEach(async () => {
    table = await engine.fresh()
    tenant = await openTenant(table)
    keyId = tenant.keyDigest.slice(0, 8)
  })

  const set = (settings: KeySettings) => setApiKey(table, { keyId, settings, actor: ACTOR })
  const caller = () => findCaller(table, tenant.keyDigest, Date.now() / 1000)
  const entries = async () => (await readAudit(table, { limit: 10, targets: [keyId], actor: ACTOR.name })).entries

  it('change what a key may do, for the list and for its next request alike', async () => {
    const settings = { name: 'web', models: ['chat-default'], ratePerMinute: 120, expiresAt: END }
    expect(await set(settings)).toMatchObject({ isChanged: true, key: settings })
    const { keyDigest, tenantId } = tenant
    const { name, expiresAt, ...limits } = settings
    expect(await caller()).toEqual({ tenantId, keyId, keyDigest, ...limits, revision: 1 })
    const after = END / 1000 + 1
    expect(await findCaller(table, keyDigest, after)).toBeUndefined()
  })

  it('set to null remove the name and the limits', async () => {
    await set({ name: 'web', models: ['chat-default'], ratePerMinute: 120, expiresAt: END })
    const none = { name: null, models: null, ratePerMinute: null, expiresAt: null }
    expect(await set(none)).toMatchObject({ isChanged: true, key: none })
    const { keyDigest, tenantId } = tenant
    expect(await caller()).toEqual({ tenantId, keyId, keyDigest, models: null, revision: 2 })
  })

  it('that are left out stay', async () => {
    await set({ name: 'web', models: ['chat-default'] })
    expect(await set({ ratePerMinute: 5 })).toMatchObject({
      key: { name: 'web', models: ['chat-default'], ratePerMinute: 5, expiresAt: null },
    })
  })

  it('write one entry of the audit log with what changed, before and after', async () => {
    await set({ name: 'web', models: ['chat-default'], expiresAt: END })
    await set({ name: 'shop', models: ['chat-default'] })
    expect(await entries()).toMatchObject([
      { action: 'key set', actor: 'alice', tenant: tenant.tenantId, before: { name: 'web' }, after: { name: 'shop' } },
      {
        before: { name: null, models: null, expires: null },
        after: { name: 'web', models: ['chat-default'], expires: '2099-01-31T00:00:00.000Z' },
      },
    ])
    expect(JSON.stringify(await entries())).not.toContain(tenant.keyDigest)
  })

  it('that change nothing write nothing', async () => {
    await set({ name: 'web' })
    expect(await set({ name: 'web', models: null, ratePerMinute: null, expiresAt: null })).toMatchObject({
      isChanged: false,
    })
    expect(await entries()).toHaveLength(1)
    expect((await caller())?.revision).toBe(1)
  })

  it('are repeated after a lost response without a second entry', async () => {
    const patient = tableWithClient({ ...table, pause: async () => {} })
    breakConnection(patient, ':revision', { kind: 'reply_lost', times: 1 })
    await setApiKey(patient, { keyId, settings: { name: 'web' }, actor: ACTOR })
    expect(await entries()).toHaveLength(1)
    expect((await caller())?.revision).toBe(1)
  })

  it('are written together with their entry, or not at all', async () => {
    const patient = tableWithClient({ ...table, pause: async () => {} })
    breakConnection(patient, ':revision', { kind: 'request_lost', times: 8 })
    await expect(setApiKey(patient, { keyId, settings: { name: 'web' }, actor: ACTOR })).rejects.toThrow()
    expect(await entries()).toEqual([])
    expect((await getApiKey(table, keyId)).listing.name).toBeNull()
  })

  it('of several commands at once all hold, each with its own revision', async () => {
    await Promise.all([set({ name: 'web' }), set({ ratePerMinute: 5 }), set({ models: ['chat-default'] })])
    expect((await getApiKey(table, keyId)).listing).toMatchObject({
      name: 'web',
      ratePerMinute: 5,
      models: ['chat-default'],
    })
    expect((await caller())?.revision).toBe(3)
  })

  it('make a reservation fail that read the key before, and no later one', async () => {
    await set({ ratePerMinute: 5 })
    await expect(reserveJob(table, tenant)).rejects.toMatchObject({ name: 'InvalidApiKeyError' })
    await reserveJob(table, tenant, { keyRevision: 1, estimate: ESTIMATE })
  })

  it('of a rotated key give its next successor the lifetime that was set', async () => {
    await putApiKey(
      table,
      {
        ...{ keyId: 'next', tenantId: tenant.tenantId, models: null, createdAt: 1, digest: 'digest-of-next' },
        replaces: { keyId, expiresAt: null, endsAt: END },
      },
      TESTER,
    )
    const { key } = await set({ expiresAt: END + 60_000 })
    expect(key).toMatchObject({ expiresAt: END + 60_000, endBeforeReplacement: END + 60_000 })
  })

  it('of a revoked or unknown key are refused', async () => {
    await revokeApiKey(table, keyId, TESTER)
    await expect(set({ name: 'web' })).rejects.toMatchObject({ code: 'key_unusable' })
    await expect(setApiKey(table, { keyId: 'nobody', settings: {}, actor: ACTOR })).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('refuse a rate that no limit can keep', async () => {
    await expect(set({ ratePerMinute: 0 })).rejects.toThrow('0 requests per minute: use a whole number from 1 to')
  })
})
