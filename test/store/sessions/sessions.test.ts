import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { ZERO } from '#core/money.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { createAdminKey, listAdminKeys, revokeAdminKey } from '#store/sessions/admin-keys.ts'
import {
  endSession,
  endSessionsOf,
  findSignInLink,
  findUserOfKey,
  listSessions,
  makeSignInLink,
  markSessionSeen,
  openSession,
} from '#store/sessions/sessions.ts'
import { ConditionsNotMetError, type Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { makeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { startTestTable } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { ADA, OPENING } from './signed-in.ts'

describe('openSession', () => {
  const engine = useTestTable()
  let table: Table
  beforeEach(async () => {
    table = await engine.fresh()
  })

  const { nowMilliseconds } = OPENING
  const open = async (user = ADA) => (await openSession(table, user, OPENING)).session
  const listed = async (holder?: string) =>
    (await listSessions(table, { holder, limit: 200, nowMilliseconds })).sessions.map(({ id }) => id)

  it('gives the session twelve hours, or less with its key', async () => {
    expect(await open()).toMatchObject({ expiresAt: nowMilliseconds + 43_200_000, seenAt: nowMilliseconds })
    expect(await open({ ...ADA, endsAt: nowMilliseconds + 5 })).toMatchObject({ expiresAt: nowMilliseconds + 5 })
  })

  it('opens nothing and records nothing when a write beside it is refused', async () => {
    const Key = { PK: 'LINK#none', SK: '0' }
    const alongside = { link: { Delete: { Key, ConditionExpression: 'attribute_exists(PK)' } } }
    await expect(openSession(table, ADA, { ...OPENING, alongside })).rejects.toBeInstanceOf(ConditionsNotMetError)
    expect(await listed()).toEqual([])
    expect((await readAudit(table, { limit: 9 })).entries).toEqual([])
  })

  it('records who signed in, how, and in which request', async () => {
    const { id } = await open()
    expect((await readAudit(table, { limit: 9 })).entries).toMatchObject([
      { actor: 'ada', role: 'viewer', action: 'session create', target: id, requestId: 'request-1' },
    ])
  })
})

describe('sessions of the console', () => {
  const engine = useTestTable()
  let table: Table
  beforeEach(async () => {
    table = await engine.fresh()
  })

  const { nowMilliseconds } = OPENING
  const BOB = { ...ADA, actor: 'bob', holder: 'oidc:bob' }
  const open = async (user = ADA) => (await openSession(table, user, OPENING)).session
  const listed = async (holder?: string) =>
    (await listSessions(table, { holder, limit: 200, nowMilliseconds })).sessions.map(({ id }) => id)

  it('are listed for all or for one holder, until they are over', async () => {
    const [ofAda, ofBob] = [await open(), await open(BOB)]
    expect(new Set(await listed())).toEqual(new Set([ofAda.id, ofBob.id]))
    expect(await listed('oidc:bob')).toEqual([ofBob.id])
    const later = { holder: undefined, limit: 200, nowMilliseconds: ofAda.expiresAt }
    expect((await listSessions(table, later)).sessions).toEqual([])
  })

  it('are listed while their key can be used, or can be again once its tenant is resumed', async () => {
    await makeTenant(table, { id: 'acme', name: 'Acme', credits: ZERO }, TESTER)
    const [kept, revoked] = await Promise.all(
      ['ada', 'bob'].map(async (name) => (await createAdminKey(table, { name, role: 'viewer' }, TESTER)).listing.keyId),
    )
    const apiKey = async (expiresAt?: number) =>
      await storeApiKey(table, { key: generateApiKey(), tenantId: 'acme', models: null, expiresAt }, TESTER)
    const [suspended, leaked, expired] = [await apiKey(), await apiKey(), await apiKey(nowMilliseconds - 1_000)]
    const openWith = async (kind: 'admin_key' | 'api_key', keyId = '') => (await open({ ...ADA, kind, keyId })).id
    const usable = [
      ...[await openWith('admin_key', kept), await openWith('admin_key', kept)],
      ...[await openWith('api_key', suspended), (await open()).id],
    ]
    await openWith('admin_key', revoked)
    await openWith('api_key', leaked)
    await openWith('api_key', expired)
    await openWith('api_key', 'nobody00')
    await revokeAdminKey(table, revoked ?? '', TESTER)
    await revokeApiKey(table, leaked, TESTER)
    await suspendTenant(table, 'acme', { actor: TESTER })
    expect((await listed()).toSorted()).toEqual(usable.toSorted())
  })

  it('of one holder come page by page, and no page tells how many others there are', async () => {
    const own: string[] = []
    for (let user = 0; user < 6; user += 1) {
      own.push((await open()).id)
      await open(BOB)
    }
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await listSessions(table, { holder: 'oidc:ada', limit: 2, after, nowMilliseconds })
      seen.push(...page.sessions.map(({ id }) => id))
      expect(page.sessions).toHaveLength(2)
      after = page.next
      expect([undefined, ...own]).toContain(after)
    } while (after !== undefined)
    expect(seen.toSorted()).toEqual(own.toSorted())
  })

  it('end once, and only for their holder where one is named', async () => {
    const { id } = await open()
    expect(await endSession(table, id, { actor: TESTER, holder: 'oidc:bob' })).toBe(false)
    expect(await listed()).toEqual([id])
    expect(await endSession(table, id, { actor: TESTER, holder: 'oidc:ada' })).toBe(true)
    expect(await endSession(table, id, { actor: TESTER, holder: undefined })).toBe(false)
    const entries = (await readAudit(table, { limit: 9 })).entries.filter(({ action }) => action === 'session end')
    expect(entries).toHaveLength(1)
  })

  it('of one holder end together, however many there are, and the log says how many', async () => {
    await Promise.all(Array.from({ length: 120 }, () => open()))
    const { id } = await open(BOB)
    await endSessionsOf(table, 'oidc:ada', TESTER)
    expect(await listed()).toEqual([id])
    const ended = (await readAudit(table, { limit: 500 })).entries.filter(({ action }) => action === 'session end')
    expect(ended.map(({ before }) => before?.sessions).toSorted()).toEqual([30, 90])
  })

  it('are not brought back by a note that they were in use', async () => {
    const session = await open()
    await endSession(table, session.id, { actor: TESTER, holder: undefined })
    await markSessionSeen(table, session, nowMilliseconds + 1)
    expect(await listed()).toEqual([])
  })

  it('keep the latest note of two that come at once', async () => {
    const session = await open()
    await Promise.all([1, 2, 3].map((later) => markSessionSeen(table, session, nowMilliseconds + later)))
    const [seen] = (await listSessions(table, { holder: undefined, limit: 1, nowMilliseconds })).sessions
    expect(seen?.seenAt).toBeGreaterThan(nowMilliseconds)
  })
})

describe('sign-in by key:', () => {
  const engine = useTestTable()
  beforeAll(async () => {
    await makeTenant(engine.table, { id: 'acme', name: 'Acme', credits: ZERO }, TESTER)
  })

  const find = (key: string) => findUserOfKey(engine.table, key, Date.now())

  describe('findUserOfKey', () => {
    it('knows an admin key until it is revoked', async () => {
      const { key, listing } = await createAdminKey(engine.table, { name: 'ada', role: 'viewer' }, TESTER)
      const { keyId } = listing
      expect(await find(key)).toMatchObject({ kind: 'admin_key', role: 'viewer', keyId, holder: `admin_key:${keyId}` })
      await revokeAdminKey(engine.table, keyId, TESTER)
      expect(await find(key)).toBeUndefined()
    })

    it('refuses an admin key with the id of another', async () => {
      const { listing } = await createAdminKey(engine.table, { name: 'ada', role: 'owner' }, TESTER)
      const other = await startTestTable()
      const forged = await createAdminKey(other.table, { name: 'eve', role: 'owner' }, TESTER)
      await other.close()
      const item = { ...tableKeys.adminKey(forged.listing.keyId), ...listing, digest: sha256Hex('another key') }
      await engine.table.transact({ key: { Put: { Item: item } } })
      expect(await find(forged.key)).toBeUndefined()
    })

    it('knows an API key, with its tenant', async () => {
      const key = generateApiKey()
      const keyId = await storeApiKey(engine.table, { key, tenantId: 'acme', models: null }, TESTER)
      expect(await find(key)).toMatchObject({
        kind: 'api_key',
        role: 'tenant',
        keyId,
        tenant: { id: 'acme', name: 'Acme' },
      })
    })

    it('refuses a key of the playground, which would live on as a session', async () => {
      const parent = generateApiKey()
      const keyId = await storeApiKey(engine.table, { key: parent, tenantId: 'acme', models: null }, TESTER)
      const key = generateApiKey()
      const record = {
        keyId,
        tenantId: 'acme',
        models: null,
        state: 'active',
        expiresAt: Math.trunc(Date.now() / 1000) + 900,
      }
      await engine.table.transact({ key: { Put: { Item: { ...tableKeys.apiKey(sha256Hex(key)), ...record } } } })
      expect(await find(key)).toBeUndefined()
      expect(await find(parent)).toBeDefined()
    })
  })

  describe('listAdminKeys', () => {
    it('shows every key and never its digest', async () => {
      const keys = await listAdminKeys(engine.table)
      expect(keys.length).toBeGreaterThan(0)
      expect(JSON.stringify(keys)).not.toContain('digest')
    })
  })
})

describe('findSignInLink: a one-time link', () => {
  const engine = useTestTable()

  const NOW = 1_800_000_000_000

  it('is found for ten minutes, by its secret alone', async () => {
    const { table } = engine
    const secret = await makeSignInLink(table, 'ada@host', NOW)
    expect(await findSignInLink(table, secret, NOW + 599_999)).toMatchObject({ actor: 'ada@host' })
    expect(await findSignInLink(table, secret, NOW + 600_000)).toBeUndefined()
    expect(await findSignInLink(table, `${secret}x`, NOW)).toBeUndefined()
  })

  it('is used up by the first of two sign-ins', async () => {
    const { table } = engine
    const secret = await makeSignInLink(table, 'ada@host', NOW)
    const [one, other] = await Promise.all([1, 2].map(() => findSignInLink(table, secret, NOW)))
    await table.transact(one?.use ?? {})
    await expect(table.transact(other?.use ?? {})).rejects.toBeInstanceOf(ConditionsNotMetError)
    expect(await findSignInLink(table, secret, NOW)).toBeUndefined()
  })
})
