import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import { startTestTable, type TestTable } from '../../engines/test-table.ts'
import { captureLog } from '../../middleware/api-exchange.ts'
import type { Browser } from './browser.ts'
import { begin, comeBack, settingsFor } from './oidc-rig.ts'
import { type Forgery, type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts'

const environment = { ...process.env }
let engine: TestTable
let provider: ScriptedProvider
let table: Table
let log: ReturnType<typeof captureLog>
beforeAll(async () => {
  engine = await startTestTable()
  provider = await startScriptedProvider()
})
beforeEach(async () => {
  process.env.CONSOLE_ORIGIN = 'loopback'
  process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer))
  table = await engine.fresh()
  provider.forge({})
  log = captureLog()
})
afterEach(() => {
  vi.restoreAllMocks()
})
afterAll(async () => {
  process.env = environment
  await Promise.all([engine.close(), provider.stop()])
})

/** Goes to the provider and comes back. */
async function signIn(forgery: Forgery = {}, changed: Record<string, string> = {}, query: Record<string, string> = {}) {
  const { page, location } = await begin(() => table, query)
  provider.forge(forgery)
  const state = location.searchParams.get('state') ?? ''
  const parameters = { code: provider.authorize(location), state, iss: provider.issuer, ...changed }
  return { page, parameters, received: await comeBack(page, parameters) }
}

const ROLES_BY_ADDRESS = { claim: 'email', owner: ['ada@example.com'] }

const role = async (page: Browser) => (await page.send('GET', '/admin/v1/session')).body.role
const html = ({ body }: { body: Record<string, unknown> }) => String(body.text)

/** Takes the secret of the page from the fragment, as the page does. */
function takePageSecret(page: Browser, text: string): void {
  page.pageSecret = /#page=([\w-]{43})"/.exec(text)?.[1]
}

describe('finish-oidc', () => {
  it('finish-oidc 200: a page that leads to the console, with the session and without the cookie of the sign-in', async () => {
    const { page, received } = await signIn({}, {}, { to: '/console/videos?tenant=acme&status=failed' })
    expect(received).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
      cookies: [
        expect.stringMatching(/^rg_console_8787=.*SameSite=Strict/),
        'rg_oidc=; Path=/admin/v1/oidc; Max-Age=0; HttpOnly; SameSite=Lax',
      ],
    })
    expect(html(received)).toContain(
      '<meta http-equiv="refresh" content="0;url=/console/videos?tenant=acme&amp;status=failed#page=',
    )
    takePageSecret(page, html(received))
    expect(await page.send('GET', '/admin/v1/session')).toMatchObject({
      status: 200,
      body: { kind: 'oidc', role: 'owner', actor: 'ada@example.com (user-1)', tenant: null },
    })
  })

  it.each([
    [['readers'], 'viewer'],
    ['readers', 'viewer'],
    [['others', 'readers', 'admins'], 'owner'],
  ])('gives users with the groups %j the role %s', async (groups, expected) => {
    const { page, received } = await signIn({ claims: { groups } })
    takePageSecret(page, html(received))
    expect(await role(page)).toBe(expected)
  })

  it('finish-oidc 403: a user without a role sees the subject and the claims, escaped', async () => {
    const claims = { groups: ['<img src=x onerror=alert(1)>'], sub: '"><script>alert(1)</script>', email: undefined }
    const { received } = await signIn({ claims })
    expect(received).toMatchObject({ status: 403, cookies: [expect.stringContaining('rg_oidc=;')] })
    expect(html(received)).toContain('&quot;&gt;&lt;script&gt;')
    expect(html(received)).not.toMatch(/<script|<img/)
    expect(received.headers['content-security-policy']).toContain("default-src 'none'")
  })

  it.each<[string, unknown]>([
    ['an object', { admins: true }],
    ['a number', 1],
    ['nothing', undefined],
    ['a list in a list', [['admins']]],
    ['a string that begins alike', 'admins,readers'],
  ])('finish-oidc 403: groups that are %s give no role', async (_, groups) => {
    expect((await signIn({ claims: { groups } })).received).toMatchObject({ status: 403 })
  })

  it.each([undefined, false, 'false', null, 1])(
    'finish-oidc 403: an address that gives the role, with email_verified %j, and the page says what is missing',
    async (verified) => {
      process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer, ROLES_BY_ADDRESS))
      const { received } = await signIn({ claims: { email_verified: verified } })
      expect(received).toMatchObject({ status: 403, cookies: [expect.stringContaining('rg_oidc=;')] })
      expect(html(received)).toContain('email_verified')
    },
  )

  it.each([true, 'true'])(
    'finish-oidc 200: an address that gives the role, with email_verified %j',
    async (verified) => {
      process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer, ROLES_BY_ADDRESS))
      const { page, received } = await signIn({ claims: { email_verified: verified } })
      takePageSecret(page, html(received))
      expect((await page.send('GET', '/admin/v1/session')).body).toMatchObject({
        role: 'owner',
        actor: 'ada@example.com (user-1)',
      })
    },
  )

  it('finish-oidc 200: the subject alone is the actor where the address is not verified', async () => {
    const claims = { email_verified: undefined, preferred_username: 'grace', name: 'Grace' }
    const { page, received } = await signIn({ claims })
    takePageSecret(page, html(received))
    expect((await page.send('GET', '/admin/v1/session')).body).toMatchObject({ role: 'owner', actor: 'user-1' })
  })

  it('finish-oidc 403: the provider refused, in its own word, escaped', async () => {
    const { page, location } = await begin(() => table)
    const state = location.searchParams.get('state') ?? ''
    const received = await comeBack(page, { error: '<b>denied', state, iss: provider.issuer })
    expect(received).toMatchObject({ status: 403 })
    expect(html(received)).toContain('error: &lt;b&gt;denied')
  })

  it.each<[string, Record<string, string>]>([
    ['another state', { state: 'x'.repeat(43) }],
    ['no state', { state: '' }],
    ['another issuer', { iss: 'https://evil.example' }],
    ['no issuer, which the provider promised', { iss: '' }],
    ['a code that the provider did not give', { code: 'injected' }],
  ])('finish-oidc 400: %s', async (_, changed) => {
    const { received } = await signIn({}, changed)
    expect(received).toMatchObject({ status: 400, cookies: [expect.stringContaining('rg_oidc=;')] })
    expect(html(received)).toContain('Start again')
  })

  it('finish-oidc 400: the code of one sign-in does not end another', async () => {
    const [victim, attacker] = [await begin(() => table), await begin(() => table)]
    const code = provider.authorize(attacker.location)
    const state = victim.location.searchParams.get('state') ?? ''
    expect(await comeBack(victim.page, { code, state, iss: provider.issuer })).toMatchObject({ status: 400 })
  })

  it('finish-oidc 400: a callback that is repeated, with its cookie or without', async () => {
    const { page, location } = await begin(() => table)
    const cookies = new Map(page.cookies)
    const state = location.searchParams.get('state') ?? ''
    const parameters = { code: provider.authorize(location), state, iss: provider.issuer }
    expect(await comeBack(page, parameters)).toMatchObject({ status: 200 })
    expect(await comeBack(page, parameters)).toMatchObject({ status: 400 })
    page.cookies = cookies
    expect(await comeBack(page, parameters)).toMatchObject({ status: 400 })
  })

  it("finish-oidc 400: a cookie that was changed, is another browser's, or is ten minutes old", async () => {
    const { page, location } = await begin(() => table)
    const [name = '', value = ''] = [...page.cookies][0] ?? []
    const state = location.searchParams.get('state') ?? ''
    const parameters = () => ({ code: provider.authorize(location), state, iss: provider.issuer })
    for (const changed of ['', 'x', `${value.slice(0, -2)}AA`]) {
      page.cookies = new Map([[name, changed]])
      expect(await comeBack(page, parameters())).toMatchObject({ status: 400 })
    }
    page.cookies = new Map([[name, value]])
    const now = Date.now()
    vi.spyOn(Date, 'now').mockImplementation(() => now + 600_000)
    expect(await comeBack(page, parameters())).toMatchObject({ status: 400 })
  })

  it.each<[string, Forgery]>([
    ['another nonce', { claims: { nonce: 'x' } }],
    ['no nonce', { claims: { nonce: undefined } }],
    ['another issuer', { claims: { iss: 'https://evil.example' } }],
    ['another audience', { claims: { aud: 'other' } }],
    ['two audiences and no authorized party', { claims: { aud: ['console', 'other'] } }],
    ['another authorized party', { claims: { aud: ['console', 'other'], azp: 'other' } }],
    ['an end in the past', { claims: { exp: 1 } }],
    ['no end', { claims: { exp: undefined } }],
    ['no time of issue', { claims: { iat: undefined } }],
    ['the signature of another key', { isForeign: true }],
    ['no algorithm', { header: { alg: 'none' } }],
    ['an algorithm with a shared secret', { header: { alg: 'HS256' } }],
    ['an unknown key', { header: { kid: 'other' } }],
  ])('finish-oidc 502: an ID token with %s signs nobody in', async (_, forgery) => {
    const { page, received } = await signIn(forgery)
    expect(received).toMatchObject({ status: 502, cookies: [expect.stringContaining('rg_oidc=;')] })
    expect(page.cookies.size).toBe(0)
    expect(log.text()).not.toMatch(/ey[JK]|user-1|ada@/)
  })

  it('finish-oidc 502: a provider that fails', async () => {
    expect((await signIn({ status: 500 })).received).toMatchObject({ status: 502 })
  })

  it('finish-oidc 502: a client secret that the provider refuses, which the log says', async () => {
    expect((await signIn({ error: 'invalid_client' })).received).toMatchObject({ status: 502 })
    expect(log.text()).toContain('invalid_client')
  })

  it('finish-oidc 404: where no provider is configured', async () => {
    const { page } = await begin(() => table)
    process.env.CONSOLE_OIDC = ''
    expect(await comeBack(page, { code: 'x', state: 'y' })).toMatchObject({ status: 404 })
  })

  it('finish-oidc 429: the eleventh refusal of an address within a minute, each recorded once a minute', async () => {
    for (let count = 0; count < 10; count += 1) {
      expect((await signIn({ claims: { groups: [] } })).received).toMatchObject({ status: 403 })
    }
    expect((await signIn()).received).toMatchObject({ status: 429, headers: { 'retry-after': expect.any(String) } })
    const { entries } = await readAudit(table, { limit: 50 })
    expect(entries.filter(({ action }) => action === 'session refuse').length).toBeLessThanOrEqual(2)
  })

  it('takes parameters that the provider adds', async () => {
    expect((await signIn({}, { authuser: '0', hd: 'example.com' })).received).toMatchObject({ status: 200 })
  })
})
