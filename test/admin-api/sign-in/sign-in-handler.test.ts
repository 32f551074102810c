import { afterAll, afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { ServiceUnavailableError } from '#core/errors.ts'
import { signInHandler } from '#lambdas/admin-api/sign-in/sign-in-handler.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { createAdminKey, revokeAdminKey } from '#store/sessions/admin-keys.ts'
import type { Table } from '#store/table/table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { adminEvent, tableWithSession } from '../../middleware/admin-exchange.ts'
import { captureLog, context } from '../../middleware/api-exchange.ts'
import { useSecretsManager } from '../../platform/fake-secrets-manager.ts'
import { Browser } from './browser.ts'

describe('sign-in handler', () => {
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

  const SESSION = '/admin/v1/session'
  const SESSIONS = '/admin/v1/sessions'

  /** A browser that is signed in with a new admin key, or with the given one. */
  async function signedIn(role: 'owner' | 'viewer', key?: string): Promise<Browser> {
    const page = new Browser(() => table)
    await page.signIn({ key: key ?? (await createAdminKey(table, { name: role, role }, TESTER)).key })
    return page
  }

  const isIn = async (page: Browser) => (await page.send('GET', SESSION)).status === 200

  async function rows(page: Browser, query: Record<string, string> = {}): Promise<Record<string, unknown>[]> {
    const { data } = (await page.send('GET', SESSIONS, { query })).body
    return Array.isArray(data) ? data : []
  }

  it('get-sign-in 200: names the methods of the place, to anybody', async () => {
    const page = new Browser(() => table)
    expect((await page.send('GET', '/admin/v1/sign-in')).body).toEqual({
      object: 'sign_in',
      methods: ['admin_key', 'api_key', 'link'],
      oidc: null,
      environment: 'local',
    })
    process.env.CONSOLE_ORIGIN = 'https://console.example'
    expect((await page.send('GET', '/admin/v1/sign-in')).body).toMatchObject({
      methods: ['admin_key', 'api_key'],
      environment: 'aws',
    })
  })

  it('get-session 401: without a session, and after the end of twelve hours', async () => {
    expect(await new Browser(() => table).send('GET', SESSION)).toMatchObject({ status: 401 })
    const page = await signedIn('viewer')
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + 12 * 3_600_000)
    expect(await page.send('GET', SESSION)).toMatchObject({ status: 401 })
  })

  it('get-session 200: says who is signed in, and never repeats the secret of the page', async () => {
    const page = await signedIn('viewer')
    const { body } = await page.send('GET', SESSION)
    expect(body).toMatchObject({ object: 'session', role: 'viewer', expires_at: Number(body.created_at) + 43_200 })
    expect(body).not.toHaveProperty('page_secret')
  })

  it('get-session writes that the session is in use once in five minutes', async () => {
    const page = await signedIn('owner')
    const [before] = await rows(page)
    const now = Date.now()
    jest.spyOn(Date, 'now').mockImplementation(() => now + 200_000)
    await page.send('GET', SESSION)
    expect((await rows(page))[0]?.seen_at).toBe(before?.seen_at)
    jest.spyOn(Date, 'now').mockImplementation(() => now + 300_000)
    await page.send('GET', SESSION)
    expect((await rows(page))[0]?.seen_at).toBe(Math.trunc((now + 300_000) / 1000))
  })

  it('ends every session of an admin key with the key', async () => {
    const { key, listing } = await createAdminKey(table, { name: 'ada', role: 'owner' }, TESTER)
    const pages = [await signedIn('owner', key), await signedIn('owner', key)]
    const other = await signedIn('owner')
    await revokeAdminKey(table, listing.keyId, TESTER)
    expect(await Promise.all([...pages, other].map(isIn))).toEqual([false, false, true])
  })

  it('sign-out 204: ends this session alone, removes its cookie and records it', async () => {
    const { key } = await createAdminKey(table, { name: 'ada', role: 'owner' }, TESTER)
    const [here, there] = [await signedIn('owner', key), await signedIn('owner', key)]
    const token = new Map(here.cookies)
    expect(await here.send('DELETE', SESSION)).toMatchObject({
      status: 204,
      cookies: [expect.stringMatching(/^rg_console_8787=; Path=\/admin; Max-Age=0; HttpOnly; SameSite=Strict$/)],
    })
    here.cookies = token
    expect([await isIn(here), await isIn(there)]).toEqual([false, true])
    expect((await readAudit(table, { limit: 1 })).entries).toMatchObject([{ action: 'session end', role: 'owner' }])
  })

  it('sign-out-everywhere 204: ends every session of the user and no other', async () => {
    const { key } = await createAdminKey(table, { name: 'ada', role: 'viewer' }, TESTER)
    const [here, there, other] = [await signedIn('viewer', key), await signedIn('viewer', key), await signedIn('owner')]
    const token = new Map(here.cookies)
    expect(await here.send('DELETE', SESSIONS)).toMatchObject({ status: 204 })
    here.cookies = token
    expect([await isIn(here), await isIn(there), await isIn(other)]).toEqual([false, false, true])
  })

  it('list-sessions 200: shows owners every session, and others their own', async () => {
    const [viewer, owner] = [await signedIn('viewer'), await signedIn('owner')]
    expect(await rows(viewer)).toMatchObject([{ role: 'viewer', current: true }])
    expect((await rows(owner)).map(({ role, current }) => ({ role, current }))).toEqual(
      expect.arrayContaining([
        { role: 'viewer', current: false },
        { role: 'owner', current: true },
      ]),
    )
    expect(JSON.stringify(await rows(owner))).not.toContain('igest')
  })

  it('list-sessions goes on where the page before ended', async () => {
    const owner = await signedIn('owner')
    await Promise.all(Array.from({ length: 4 }, () => signedIn('viewer')))
    const seen: unknown[] = []
    let query: Record<string, string> = { limit: '2' }
    for (let page = 0; page < 4; page += 1) {
      const { body } = await owner.send('GET', SESSIONS, { query })
      seen.push(...(Array.isArray(body.data) ? body.data.map(({ id }) => id) : []))
      if (body.has_more !== true) {
        break
      }
      query = { limit: '2', after: String(body.next) }
    }
    expect(new Set(seen).size).toBe(5)
    expect(seen).toHaveLength(5)
  })

  it.each([{ limit: '0' }, { limit: '201' }, { limit: 'x' }, { after: 'x' }, { role: 'owner' }])(
    'list-sessions 400: %j',
    async (query) => {
      expect(await (await signedIn('owner')).send('GET', SESSIONS, { query })).toMatchObject({ status: 400 })
    },
  )

  it('end-session 204: owners end any session; end-session 404: others only their own', async () => {
    const [viewer, owner] = [await signedIn('viewer'), await signedIn('owner')]
    const idOf = async (page: Browser) => String((await page.send('GET', SESSION)).body.id)
    const [ofViewer, ofOwner] = [await idOf(viewer), await idOf(owner)]
    expect(await viewer.send('DELETE', `${SESSIONS}/${ofOwner}`)).toMatchObject({ status: 404 })
    expect(await isIn(owner)).toBe(true)
    expect(await owner.send('DELETE', `${SESSIONS}/${ofViewer}`)).toMatchObject({ status: 204 })
    expect(await isIn(viewer)).toBe(false)
    expect(await owner.send('DELETE', `${SESSIONS}/${ofViewer}`)).toMatchObject({ status: 404 })
    expect(await owner.send('DELETE', `${SESSIONS}/x%2Fy`)).toMatchObject({ status: 404 })
  })

  it.each([
    ['sign-out 401', 'DELETE', SESSION],
    ['switch-session 401', 'PATCH', SESSION],
    ['sign-out-everywhere 401', 'DELETE', SESSIONS],
    ['list-sessions 401', 'GET', SESSIONS],
    ['end-session 401', 'DELETE', `${SESSIONS}/0123456789abcdef`],
  ])('%s: without a session', async (_, method, path) => {
    expect(await new Browser(() => table).send(method, path)).toMatchObject({ status: 401 })
  })

  it.each([
    ['sign-out 403', SESSION],
    ['sign-out-everywhere 403', SESSIONS],
    ['end-session 403', `${SESSIONS}/0123456789abcdef`],
  ])('%s: for a page of another site, which ends nothing', async (_, path) => {
    const page = await signedIn('owner')
    expect(await page.send('DELETE', path, { headers: { origin: 'http://localhost:9999' } })).toMatchObject({
      status: 403,
    })
    expect(await isIn(page)).toBe(true)
  })
})

describe('statuses of sign-in', () => {
  const { errors, newSecret } = useSecretsManager()

  const environment = { ...process.env }
  beforeEach(() => {
    process.env.CONSOLE_ORIGIN = 'loopback'
    process.env.CONSOLE_OIDC = ''
    delete process.env.FRONT_DOOR_SECRET_ARN
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(() => {
    process.env = environment
  })

  const REQUESTS: Readonly<Record<string, readonly [string, string]>> = {
    'get-sign-in': ['GET', '/admin/v1/sign-in'],
    'create-session': ['POST', '/admin/v1/session'],
    'get-session': ['GET', '/admin/v1/session'],
    'switch-session': ['PATCH', '/admin/v1/session'],
    'sign-out': ['DELETE', '/admin/v1/session'],
    'list-sessions': ['GET', '/admin/v1/sessions'],
    'sign-out-everywhere': ['DELETE', '/admin/v1/sessions'],
    'end-session': ['DELETE', '/admin/v1/sessions/0123456789abcdef'],
    'start-oidc': ['GET', '/admin/v1/oidc/start'],
    'finish-oidc': ['GET', '/admin/v1/oidc/callback'],
  }

  /** A table that has the session and fails in everything else. */
  function failingTable(error: Error, isSessionRead = true): () => Table {
    const fail = async () => {
      throw error
    }
    const readItems = isSessionRead
      ? tableWithSession({ seenAt: 0, assignments: [{ role: 'owner', tenant: null }] })().readItems
      : fail
    return () => ({ readItem: fail, readItems, queryPage: fail, updateItem: fail, transact: fail })
  }

  type Sent = Parameters<typeof adminEvent>[2]

  async function statusOf(name: string, table: () => Table, sent: Sent = {}): Promise<number> {
    const [operation = ''] = name.split(' ')
    const [method = '', path = ''] = REQUESTS[operation] ?? []
    const handler = signInHandler({ table, environment: process.env })
    const bodies = { 'create-session': { body: '{"key":"nothing"}' }, 'switch-session': { body: '{"tenant":null}' } }
    const body = Object(bodies)[operation] ?? {}
    return (await handler(adminEvent(method, path, { ...body, ...sent }), context)).statusCode
  }

  const NO_TABLE = failingTable(new Error('the test reads no table'))

  it.each(['get-session 400', 'sign-out 400', 'sign-out-everywhere 400', 'end-session 400', 'get-sign-in 400'])(
    '%s: an unknown query parameter',
    async (name) => {
      expect(await statusOf(name, NO_TABLE, { queryStringParameters: { x: '1' } })).toBe(400)
    },
  )

  it.each(['get-sign-in 403', 'get-session 403', 'list-sessions 403'])(
    '%s: a name that only points to this machine',
    async (name) => {
      expect(await statusOf(name, NO_TABLE, { headers: { host: 'evil.example' } })).toBe(403)
    },
  )

  it.each([
    'get-sign-in 404',
    'create-session 404',
    'get-session 404',
    'switch-session 404',
    'sign-out 404',
    'list-sessions 404',
    'sign-out-everywhere 404',
  ])('%s: without the secret of the front door', async (name) => {
    process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'right' })
    expect(await statusOf(name, NO_TABLE)).toBe(404)
    expect(await statusOf(name, NO_TABLE, { headers: { 'x-reelgate-front-door': 'wrong' } })).toBe(404)
  })

  it.each([
    'create-session 500',
    'get-session 500',
    'switch-session 500',
    'sign-out 500',
    'list-sessions 500',
    'sign-out-everywhere 500',
    'end-session 500',
  ])('%s: a fault, whose cause stays in the log', async (name) => {
    expect(await statusOf(name, failingTable(new Error('broken')))).toBe(500)
  })

  it.each(['get-sign-in 500', 'start-oidc 500', 'finish-oidc 500'])(
    '%s: a deployment with broken settings',
    async (name) => {
      process.env.CONSOLE_OIDC = '{'
      expect(await statusOf(name, NO_TABLE)).toBe(500)
    },
  )

  it.each([
    'create-session 503',
    'get-session 503',
    'switch-session 503',
    'sign-out 503',
    'list-sessions 503',
    'sign-out-everywhere 503',
    'end-session 503',
  ])('%s: a table that stays out of reach', async (name) => {
    expect(await statusOf(name, failingTable(new ServiceUnavailableError()))).toBe(503)
  })

  it.each(['start-oidc 503', 'finish-oidc 503'])(
    '%s: a secret of the front door that stays out of reach',
    async (name) => {
      process.env.FRONT_DOOR_SECRET_ARN = newSecret({ current: 'right' })
      errors.push(...Array.from({ length: 50 }, () => ({ status: 400, __type: 'ThrottlingException' })))
      const headers = { 'x-reelgate-front-door': 'right' }
      expect(await statusOf(name, NO_TABLE, { headers })).toBe(503)
      errors.length = 0
    },
  )
})
