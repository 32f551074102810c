import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, describe, expect, it } from 'vitest'
import { listApiKeys } from '#adapters/store/accounts/api-key-listing.ts'
import { findCaller } from '#adapters/store/accounts/api-key-record.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { setApiKey } from '#adapters/store/accounts/key-settings.ts'
import { putApiKey } from '#adapters/store/accounts/put-api-key.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { type TableWithClient, tableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'

const NOW = 1_800_000_000

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

const key = (keyId: string, models: string[] | null = null) => ({
  keyId,
  tenantId: 'tenant',
  models,
  createdAt: 1_000,
  digest: `digest-of-${keyId}`,
})

const actionsOn = async (keyId: string) =>
  (await readAudit(table, { limit: 10, targets: [keyId] })).entries.map(({ action }) => action)

describe('an api key', () => {
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
    breakConnection(patient, ':revoked', { kind: 'request_lost', times: 8 })
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

  it('that is revoked stays so whatever end it is given', async () => {
    await putApiKey(table, key('gone'), TESTER)
    await revokeApiKey(table, 'gone', TESTER)
    await putApiKey(
      table,
      {
        ...key('after'),
        replaces: { keyId: 'gone', endsAt: NOW * 1000 + 5_000, expiresAt: null },
      },
      TESTER,
    )
    expect(await findCaller(table, 'digest-of-gone', NOW)).toBeUndefined()
  })

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
