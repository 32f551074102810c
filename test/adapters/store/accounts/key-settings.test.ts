import { beforeEach, describe, expect, it } from 'vitest'
import { getApiKey } from '#adapters/store/accounts/api-key-listing.ts'
import { findCaller } from '#adapters/store/accounts/api-key-record.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { type KeySettings, setApiKey } from '#adapters/store/accounts/key-settings.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { type TableWithClient, tableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { ESTIMATE, openTenant, reserveJob, type TestTenant } from '../../../engines/video-jobs.ts'

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

describe('key-settings', () => {
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
    breakConnection(patient, ':next', { kind: 'reply_lost', times: 1 })
    await setApiKey(patient, { keyId, settings: { name: 'web' }, actor: ACTOR })
    expect(await entries()).toHaveLength(1)
    expect((await caller())?.revision).toBe(1)
  })

  it('are written together with their entry, or not at all', async () => {
    const patient = tableWithClient({ ...table, pause: async () => {} })
    breakConnection(patient, ':next', { kind: 'request_lost', times: 8 })
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
