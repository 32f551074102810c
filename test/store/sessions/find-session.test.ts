import { randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { formatSessionToken, type KeyOfSession, type Session } from '#core/admin/session.ts'
import { ZERO } from '#core/money.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { findSession, readSessionRecord, sessionItemOf } from '#store/sessions/find-session.ts'
import { makeTenant, resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'

describe('findSession', () => {
  const engine = useTestTable()

  const NOW = 1_800_000_000_000

  /** Stores a session. @returns its token. */
  async function signedIn(key: KeyOfSession | undefined, pageSecret?: string): Promise<string> {
    const sessionId = randomBytes(8).toString('hex')
    const token = formatSessionToken({ sessionId, key }, randomBytes(32).toString('base64url'))
    const session: Session = {
      id: sessionId,
      kind: key?.kind ?? 'oidc',
      actor: 'ada',
      role: 'viewer',
      tenant: null,
      keyId: key?.keyId ?? null,
      holder: 'ada',
      createdAt: NOW,
      seenAt: NOW,
      expiresAt: NOW + 1_000,
    }
    const pageDigest = pageSecret === undefined ? undefined : sha256Hex(pageSecret)
    const Item = sessionItemOf({ session, digest: sha256Hex(token), pageDigest })
    await engine.table.transact({ session: { Put: { Item } } })
    return token
  }

  async function find(token: string, { pageSecret, at = NOW }: { pageSecret?: string; at?: number } = {}) {
    return (await findSession(engine.table, { token, pageSecret, nowMilliseconds: at }))?.session
  }

  it('finds a session by its token until its end', async () => {
    const token = await signedIn(undefined)
    expect(await find(token)).toMatchObject({ actor: 'ada', role: 'viewer', expiresAt: NOW + 1_000 })
    expect(await find(token, { at: NOW + 999 })).toBeDefined()
    expect(await find(token, { at: NOW + 1_000 })).toBeUndefined()
  })

  it('finds nothing by a token with another secret, another key or another form', async () => {
    const token = await signedIn(undefined)
    const [id] = token.split('.')
    expect(await find(`${id}.n.${randomBytes(32).toString('base64url')}`)).toBeUndefined()
    expect(await find(token.replace('.n.', '.k8fK2mQ0z.'))).toBeUndefined()
    expect(await find(`${token}x`)).toBeUndefined()
    expect(await find('')).toBeUndefined()
  })

  it('needs the secret of the page where the session has one', async () => {
    const token = await signedIn(undefined, 'page')
    expect(await find(token, { pageSecret: 'page' })).toBeDefined()
    expect(await find(token, { pageSecret: 'pagE' })).toBeUndefined()
    expect(await find(token)).toBeUndefined()
  })

  it('ends with an API key that expires', async () => {
    const key = { key: generateApiKey(), tenantId: 'acme', models: null, expiresAt: NOW - 1_000 }
    const keyId = await storeApiKey(engine.table, key, TESTER)
    expect(await find(await signedIn({ kind: 'api_key', keyId }))).toBeUndefined()
  })

  it('ends with an API key that is revoked, and rests while its tenant is suspended', async () => {
    const { table } = engine
    await makeTenant(table, { id: 'acme', name: 'Acme', credits: ZERO }, TESTER)
    const keyId = await storeApiKey(table, { key: generateApiKey(), tenantId: 'acme', models: null }, TESTER)
    const token = await signedIn({ kind: 'api_key', keyId })
    expect(await find(token)).toBeDefined()
    await suspendTenant(table, 'acme', { actor: TESTER })
    expect(await find(token)).toBeUndefined()
    await resumeTenant(table, 'acme', { actor: TESTER })
    expect(await find(token)).toBeDefined()
    await revokeApiKey(table, keyId, TESTER)
    expect(await find(token)).toBeUndefined()
  })

  it('finds nothing for a key that does not exist', async () => {
    expect(await find(await signedIn({ kind: 'api_key', keyId: 'nobody00' }))).toBeUndefined()
    expect(await find(await signedIn({ kind: 'admin_key', keyId: 'nobody00' }))).toBeUndefined()
  })

  it.each([
    ['one that exists', 'globex', { id: 'globex', name: 'Globex' }],
    ['one that does not exist', 'nobody', undefined],
    ['an id that no key of the table can have', 'x'.repeat(2_000), undefined],
    ['an empty id', '', undefined],
  ])('reads the tenant along that it is asked for: %s', async (_, tenantId, tenant) => {
    await makeTenant(engine.table, { id: 'globex', name: 'Globex', credits: ZERO }, TESTER).catch(() => undefined)
    const token = await signedIn(undefined)
    const shown = { token, pageSecret: undefined, nowMilliseconds: NOW, tenantId }
    expect(await findSession(engine.table, shown)).toMatchObject({ session: { actor: 'ada' }, tenant })
  })

  it('sends one request to the table, also for a session with a key and a page with a tenant', async () => {
    const token = await signedIn({ kind: 'api_key', keyId: 'nobody00' })
    let requests = 0
    const table = {
      readItems: (keys: Parameters<typeof engine.table.readItems>[0]) => {
        requests += 1
        return engine.table.readItems(keys)
      },
    }
    await findSession(table, { token, pageSecret: undefined, nowMilliseconds: NOW, tenantId: 'acme' })
    expect(requests).toBe(1)
  })
})

const STORED = {
  session: {
    id: 'sessionsession16',
    kind: 'oidc',
    actor: 'ada',
    role: 'owner',
    tenant: null,
    keyId: null,
    holder: 'oidc:ada',
    createdAt: 1,
    seenAt: 2,
    expiresAt: 3_001,
  },
  digest: 'd',
  pageDigest: undefined,
} as const

describe('the item of a session', () => {
  it('is read as it was written, and is deleted by the table after its end', () => {
    const item = sessionItemOf(STORED)
    expect(item).toMatchObject({ PK: 'SESSIONS', SK: 'sessionsession16', ttl: 4 })
    expect(readSessionRecord(item)).toEqual(STORED)
  })

  it.each([{ role: 'root' }, { digest: undefined }, { expiresAt: 'never' }])('with %j is refused', (fields) => {
    expect(() => readSessionRecord({ ...sessionItemOf(STORED), ...fields })).toThrow()
  })
})
