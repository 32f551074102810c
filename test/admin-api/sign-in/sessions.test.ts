import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { consoleSite } from '#core/admin/console-site.ts'
import { ZERO } from '#core/money.ts'
import { noSessionCookie, sessionCookie } from '#lambdas/admin-api/sign-in/sessions.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { generateApiKey, storeApiKey } from '#store/keys/key-changes.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { createAdminKey, revokeAdminKey } from '#store/sessions/admin-keys.ts'
import { makeSignInLink } from '#store/sessions/sessions.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { readPartition } from '../../engines/audit.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { adminEvent } from '../../middleware/admin-exchange.ts'
import { captureLog } from '../../middleware/api-exchange.ts'
import { Browser } from './browser.ts'

describe('create-session', () => {
  const environment = { ...process.env }
  const engine = useTestTable()
  let table: Table
  beforeEach(async () => {
    process.env.CONSOLE_ORIGIN = 'loopback'
    table = await engine.fresh()
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(async () => {
    process.env = environment
  })

  const browser = () => new Browser(() => table)
  const adminKey = async (role: 'owner' | 'viewer' = 'owner') =>
    (await createAdminKey(table, { name: 'ada', role }, TESTER)).key

  /** Moves the clock; timers keep their pace. */
  function pass(milliseconds: number): void {
    const now = Date.now() + milliseconds
    jest.spyOn(Date, 'now').mockImplementation(() => now)
  }

  async function apiKey(expiresAt?: number): Promise<{ key: string; keyId: string }> {
    await makeTenant(table, { id: 'acme', name: 'Acme', credits: ZERO }, TESTER)
    const key = generateApiKey()
    return { key, keyId: await storeApiKey(table, { key, tenantId: 'acme', models: null, expiresAt }, TESTER) }
  }

  it.each(['owner', 'viewer'] as const)('create-session 200: an admin key signs in as %s', async (role) => {
    const page = browser()
    expect(await page.signIn({ key: await adminKey(role) })).toMatchObject({
      status: 200,
      body: { object: 'session', kind: 'admin_key', role, tenant: null, actor: expect.stringMatching(/^ada \(/) },
      cookies: [
        expect.stringMatching(/^rg_console_8787=[^;]+; Path=\/admin; Max-Age=43200; HttpOnly; SameSite=Strict$/),
      ],
    })
    expect(await page.send('GET', '/admin/v1/session')).toMatchObject({ status: 200, body: { role } })
  })

  it('signs in with an API key as its tenant, for no longer than the key lasts', async () => {
    const page = browser()
    const endsAt = Math.trunc(Date.now() / 1000) + 600
    const { key, keyId } = await apiKey(endsAt * 1000)
    expect(await page.signIn({ key })).toMatchObject({
      status: 200,
      body: {
        kind: 'api_key',
        role: 'tenant',
        tenant: { id: 'acme', name: 'Acme' },
        actor: `key ${keyId}`,
        expires_at: endsAt,
      },
    })
  })

  it('sets a cookie for https alone, and gives no page secret, behind a configured origin', async () => {
    process.env.CONSOLE_ORIGIN = 'https://console.example'
    const key = await adminKey()
    const { cookies, body } = await browser().signIn({ key }, { headers: { origin: 'https://console.example' } })
    expect(cookies).toEqual([expect.stringMatching(/^__Secure-rg_console=.*; HttpOnly; SameSite=Strict; Secure$/)])
    expect(body).not.toHaveProperty('page_secret')
  })

  it('stores neither the token nor the secret of the page', async () => {
    const page = browser()
    await page.signIn({ key: await adminKey() })
    const stored = JSON.stringify(await readPartition(table, 'SESSIONS'))
    for (const secret of [...page.cookies.values(), page.pageSecret ?? '']) {
      expect(stored).not.toContain(secret)
      expect(stored).not.toContain(secret.split('.').at(-1))
    }
  })

  it('opens a new session under a new id at every sign-in, whatever cookie the request carries', async () => {
    const key = await adminKey()
    const [attacker, victim] = [browser(), browser()]
    await attacker.signIn({ key })
    const planted = new Map(attacker.cookies)
    victim.cookies = new Map(planted)
    await victim.signIn({ key })
    expect([...victim.cookies.values()]).not.toEqual([...planted.values()])
  })

  it('create-session 401: keys that are unknown, mistyped, revoked, expired or of a suspended tenant get one response', async () => {
    const revoked = await createAdminKey(table, { name: 'bob', role: 'owner' }, TESTER)
    await revokeAdminKey(table, revoked.listing.keyId, TESTER)
    const { key: suspended } = await apiKey()
    await suspendTenant(table, 'acme', { actor: TESTER })
    const gone = generateApiKey()
    await revokeApiKey(table, await storeApiKey(table, { key: gone, tenantId: 'other', models: null }, TESTER), TESTER)
    const expired = generateApiKey()
    await storeApiKey(table, { key: expired, tenantId: 'other', models: null, expiresAt: Date.now() - 1_000 }, TESTER)
    const mistyped = `${(await adminKey()).slice(0, -1)}!`
    const keys = [revoked.key, suspended, gone, expired, mistyped, generateApiKey(), 'rg_admin_x', 'nothing']
    const responses = await Promise.all(keys.map((key) => browser().signIn({ key })))
    for (const { status, body, cookies } of responses) {
      expect({ status, body, cookies }).toEqual({ status: 401, body: responses[0]?.body, cookies: [] })
    }
  })

  it('reads and compares the same for an unknown admin key as for a revoked one', async () => {
    const { key, listing } = await createAdminKey(table, { name: 'bob', role: 'owner' }, TESTER)
    const forged = (await createAdminKey(await engine.fresh(), { name: 'x', role: 'owner' }, TESTER)).key
    await revokeAdminKey(table, listing.keyId, TESTER)
    const asked: string[] = []
    const watched: Table = {
      ...table,
      readItems: (keys) => {
        asked.push(...keys.map(({ PK }) => PK))
        return table.readItems(keys)
      },
    }
    await new Browser(() => watched).signIn({ key })
    await new Browser(() => watched).signIn({ key: forged })
    expect(asked).toEqual(['ADMINKEYS', 'ADMINKEYS'])
  })

  it.each([
    ['no field', {}],
    ['both fields', { key: 'a', link: 'b' }],
    ['an unknown field', { key: 'a', role: 'owner' }],
    ['a key that is no string', { key: 1 }],
    ['a key that is too long', { key: 'x'.repeat(513) }],
    ['a list', []],
  ])('create-session 400: %s', async (_, body) => {
    expect(await browser().signIn(body)).toMatchObject({ status: 400, cookies: [] })
  })

  it('create-session 403: a page of another site cannot sign its visitor in', async () => {
    const key = await adminKey()
    expect(await browser().signIn({ key }, { headers: { origin: 'http://evil.example' } })).toMatchObject({
      status: 403,
    })
    expect(await browser().signIn({ key }, { headers: { origin: undefined } })).toMatchObject({ status: 403 })
  })

  it('create-session 413: a body above the limit', async () => {
    expect(await browser().signIn({ key: 'x'.repeat(70_000) })).toMatchObject({ status: 413 })
  })

  it('create-session 429: the eleventh failure of an address within a minute, until the minute is over', async () => {
    const key = await adminKey()
    for (let failure = 0; failure < 10; failure += 1) {
      expect(await browser().signIn({ key: 'nothing' })).toMatchObject({ status: 401 })
    }
    expect(await browser().signIn({ key })).toMatchObject({
      status: 429,
      headers: { 'retry-after': expect.stringMatching(/^\d+$/) },
    })
    expect(await browser().signIn({ key }, { from: '10.0.0.2' })).toMatchObject({ status: 200 })
    pass(60_001)
    expect(await browser().signIn({ key })).toMatchObject({ status: 200 })
  })

  it('judges no more than ten of the failures that come at once', async () => {
    const responses = await Promise.all(Array.from({ length: 25 }, () => browser().signIn({ key: 'nothing' })))
    expect(responses.filter(({ status }) => status === 401)).toHaveLength(10)
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(15)
  })

  it('create-session 429: the 21st sign-in of a key within a minute, from wherever, and none of it is a failure', async () => {
    const key = await adminKey()
    for (let success = 0; success < 20; success += 1) {
      expect(await browser().signIn({ key })).toMatchObject({ status: 200 })
    }
    const refused = await browser().signIn({ key }, { from: '10.0.0.2' })
    expect(refused).toMatchObject({ status: 429, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } })
    for (let other = 0; other < 11; other += 1) {
      expect(await browser().signIn({ key }, { from: '10.0.0.2' })).toMatchObject({ status: 429, cookies: [] })
    }
    expect(await browser().signIn({ key: await adminKey() }, { from: '10.0.0.2' })).toMatchObject({ status: 200 })
    pass(60_001)
    expect(await browser().signIn({ key })).toMatchObject({ status: 200 })
  })

  it('records a sign-in, and refusals once for an address and minute, with no key in the entry', async () => {
    pass(0)
    const key = await adminKey()
    await browser().signIn({ key })
    await browser().signIn({ key: 'rg_admin_wrongkey' })
    await browser().signIn({ key: 'nothing' })
    await browser().signIn({ key: 'nothing' }, { from: '2001:db8::1' })
    const { entries } = await readAudit(table, { limit: 50 })
    const refused = entries.filter(({ action }) => action === 'session refuse')
    expect(refused.map(({ actor }) => actor).toSorted()).toEqual(['10.0.0.1', '2001:db8:0:0::/64'])
    expect(refused[0]).toMatchObject({ role: 'anonymous', kind: 'console', target: 'sign-in' })
    expect(entries.filter(({ action }) => action === 'session create')).toMatchObject([
      { after: { kind: 'admin_key' } },
    ])
    expect(JSON.stringify(entries)).not.toContain('wrongkey')
  })
})

describe('a one-time link', () => {
  const environment = { ...process.env }
  const engine = useTestTable()
  let table: Table
  beforeEach(async () => {
    process.env.CONSOLE_ORIGIN = 'loopback'
    table = await engine.fresh()
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(async () => {
    process.env = environment
  })

  const browser = () => new Browser(() => table)
  /** Moves the clock; timers keep their pace. */
  function pass(milliseconds: number): void {
    const now = Date.now() + milliseconds
    jest.spyOn(Date, 'now').mockImplementation(() => now)
  }

  it('signs in its user once as an owner, however many use it at once', async () => {
    const link = await makeSignInLink(table, 'ada@host', Date.now())
    const responses = await Promise.all(Array.from({ length: 5 }, () => browser().signIn({ link })))
    const [winner, ...others] = responses.filter(({ status }) => status === 200)
    expect(winner?.body).toMatchObject({ kind: 'local', role: 'owner', actor: 'ada@host' })
    expect(others).toEqual([])
    expect(await browser().signIn({ link })).toMatchObject({ status: 401 })
  })

  it('ends after ten minutes', async () => {
    const link = await makeSignInLink(table, 'ada@host', Date.now())
    pass(600_000)
    expect(await browser().signIn({ link })).toMatchObject({ status: 401 })
  })

  it('signs in nobody but on loopback', async () => {
    process.env.CONSOLE_ORIGIN = 'https://console.example'
    const link = await makeSignInLink(table, 'ada@host', Date.now())
    const response = await browser().signIn({ link }, { headers: { origin: 'https://console.example' } })
    expect(response).toMatchObject({ status: 401 })
  })
})

const EVENT = adminEvent('GET', '/admin/v1/session')

describe('the cookie of a session', () => {
  it('is for no script, for the admin API alone, and never sent for another site', () => {
    const cookie = sessionCookie(EVENT, consoleSite('https://a.example'), { token: 't', maxAgeSeconds: 9 })
    expect(cookie).toBe('__Secure-rg_console=t; Path=/admin; Max-Age=9; HttpOnly; SameSite=Strict; Secure')
  })

  it('is removed under the name that it was set with', () => {
    expect(noSessionCookie(EVENT, consoleSite('loopback'))).toMatch(/^rg_console_8787=; Path=\/admin; Max-Age=0;/)
  })
})
