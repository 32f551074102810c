import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { consoleSite } from '#core/admin/console-site.ts'
import { ZERO } from '#core/money.ts'
import { type PendingSignIn, pendingCookie, readPendingSignIn } from '#lambdas/admin-api/sign-in/oidc-client.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import { makeTenant } from '#store/tenants/tenant-lifecycle.ts'
import { startTestTable, type TestTable } from '../../engines/test-table.ts'
import { TESTER } from '../../engines/video-jobs.ts'
import { adminEvent } from '../../middleware/admin-exchange.ts'
import { captureLog } from '../../middleware/api-exchange.ts'
import { pass, useSecretsManager } from '../../platform/fake-secrets-manager.ts'
import type { Browser } from './browser.ts'
import { begin, comeBack, settingsFor } from './oidc-rig.ts'
import { type Forgery, type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts'

describe('start-oidc', () => {
  const environment = { ...process.env }
  let provider: ScriptedProvider
  beforeAll(async () => {
    provider = await startScriptedProvider()
  })
  beforeEach(() => {
    process.env.CONSOLE_ORIGIN = 'loopback'
    process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer))
    captureLog()
  })
  afterEach(() => {
    jest.restoreAllMocks()
  })
  afterAll(async () => {
    process.env = environment
    await provider.stop()
  })

  const table = () => {
    throw new Error('the start of a sign-in reads no table')
  }

  it('start-oidc 302: asks the provider for a code, with PKCE, state and nonce', async () => {
    const { started, location } = await begin(table, { to: '/console/usage?group_by=model' })
    expect(started).toMatchObject({
      status: 302,
      cookies: [expect.stringMatching(/^rg_oidc=[\w-]+; Path=\/admin\/v1\/oidc; Max-Age=600; HttpOnly; SameSite=Lax$/)],
    })
    expect(location.origin + location.pathname).toBe(`${provider.issuer}/authorize`)
    expect(Object.fromEntries(location.searchParams)).toEqual({
      response_type: 'code',
      client_id: 'console',
      redirect_uri: 'http://localhost:8787/admin/v1/oidc/callback',
      scope: 'openid email profile',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
    })
  })

  it('comes back to the configured origin on AWS, whatever the request says', async () => {
    process.env.CONSOLE_ORIGIN = 'https://console.example'
    const { started, location } = await begin(table)
    expect(location.searchParams.get('redirect_uri')).toBe('https://console.example/admin/v1/oidc/callback')
    expect(started.cookies).toEqual([expect.stringMatching(/^__Secure-rg_oidc=.*; Secure$/)])
  })

  it('keeps state, nonce and verifier sealed', async () => {
    const { started, location } = await begin(table)
    const sealed = Buffer.from(/=([\w-]+)/.exec(started.cookies[0] ?? '')?.[1] ?? '', 'base64url').toString('latin1')
    expect(sealed).not.toContain(location.searchParams.get('state'))
    expect(sealed).not.toContain('verifier')
  })

  it('asks for the discovery document once for many sign-ins', async () => {
    await begin(table)
    provider.asked.length = 0
    await Promise.all([begin(table), begin(table)])
    expect(provider.asked).toEqual([])
  })

  it.each([
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '/console/../../x',
    'javascript:alert(1)',
    '/',
    'usage',
  ])('start-oidc 400: %s is no page of the console', async (to) => {
    expect((await begin(table, { to })).started).toMatchObject({
      status: 400,
      body: { error: { param: 'to' } },
      cookies: [],
    })
  })

  it('start-oidc 404: where no provider is configured', async () => {
    process.env.CONSOLE_OIDC = ''
    expect((await begin(table)).started).toMatchObject({ status: 404 })
  })

  it('start-oidc 403: a name that only points to this machine', async () => {
    const { page } = await begin(table)
    const headers = { host: 'evil.example', origin: undefined }
    expect(await page.send('GET', '/admin/v1/oidc/start', { headers })).toMatchObject({ status: 403 })
  })

  it('start-oidc 502: a provider that does not respond, that is another issuer, or that fails', async () => {
    const broken = await startScriptedProvider()
    broken.forge({ status: 500 })
    for (const issuer of ['http://127.0.0.1:9', `${provider.issuer}/other`, broken.issuer]) {
      process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(issuer))
      expect((await begin(table)).started).toMatchObject({ status: 502, cookies: [] })
    }
    broken.forge({})
    expect((await begin(table)).started).toMatchObject({ status: 302 })
    await broken.stop()
  })
})

describe('finish-oidc', () => {
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
    jest.restoreAllMocks()
  })
  afterAll(async () => {
    process.env = environment
    await Promise.all([engine.close(), provider.stop()])
  })

  /** Goes to the provider and comes back. */
  async function signIn(
    forgery: Forgery = {},
    changed: Record<string, string> = {},
    query: Record<string, string> = {},
  ) {
    const { page, location } = await begin(() => table, query)
    provider.forge(forgery)
    const state = location.searchParams.get('state') ?? ''
    const parameters = { code: provider.authorize(location), state, iss: provider.issuer, ...changed }
    return { page, parameters, received: await comeBack(page, parameters) }
  }

  const RULES_BY_ADDRESS = [{ name: 'ada', when: { email: 'ada@*' }, role: 'owner' }]

  const role = async (page: Browser) => (await page.send('GET', '/admin/v1/session')).body.role
  const html = ({ body }: { body: Record<string, unknown> }) => String(body.text)

  /** Takes the secret of the page from the fragment, as the page does. */
  function takePageSecret(page: Browser, text: string): void {
    page.pageSecret = /#page=([\w-]{43})"/.exec(text)?.[1]
  }

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

  const LEADS = ['acme', 'beta', 'nowhere', 'Twins'].map((tenant) => ({
    ...{ name: `leads of ${tenant}`, when: { groups: `leads-${tenant.toLowerCase()}` }, role: 'tenant-admin', tenant },
  }))
  const RULES = [
    ...LEADS,
    { name: 'all of acme', when: { groups: '*-acme' }, role: 'tenant-viewer', tenant: 'Acme' },
    { name: 'money', when: { groups: 'money' }, role: 'finance' },
  ]

  /** Signs in by rules of tenants: `acme` and `beta`, and two of one name. */
  async function signInWith(groups: readonly string[]) {
    for (const [id, name] of Object.entries({ acme: 'Acme', beta: 'Beta', one: 'Twins', two: 'Twins' })) {
      await makeTenant(table, { id, name, credits: ZERO }, TESTER)
    }
    process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer, RULES))
    const { page, received } = await signIn({ claims: { groups } })
    takePageSecret(page, html(received))
    return { page, received }
  }

  it('gives every role of the rules that match, of each tenant the one that may most, and switch-session 200: switches', async () => {
    const { page } = await signInWith(['leads-beta', 'leads-acme', 'money'])
    const [acme, beta] = [
      { id: 'acme', name: 'Acme' },
      { id: 'beta', name: 'Beta' },
    ]
    const { body } = await page.send('GET', '/admin/v1/session')
    expect(body).toMatchObject({
      ...{ role: 'finance', tenant: null },
      assignments: [
        { role: 'finance', tenant: null },
        { role: 'tenant-admin', tenant: acme },
        { role: 'tenant-admin', tenant: beta },
      ],
    })
    const switched = await page.send('PATCH', '/admin/v1/session', { body: { tenant: 'beta' } })
    expect(switched).toMatchObject({ status: 200, body: { role: 'tenant-admin', tenant: beta } })
    expect((await page.send('GET', '/admin/v1/session')).body).toMatchObject({ role: 'tenant-admin', tenant: beta })
    await page.send('PATCH', '/admin/v1/session', { body: { tenant: null } })
    expect(await role(page)).toBe('finance')
    const { entries } = await readAudit(table, { limit: 9, action: 'session switch' })
    expect(entries.map(({ tenant, role: as }) => [tenant, as])).toEqual([
      [null, 'tenant-admin'],
      ['beta', 'finance'],
    ])
  })

  it('switch-session 403: no rule gives a role there', async () => {
    const { page } = await signInWith(['leads-acme'])
    for (const tenant of ['beta', 'nowhere', null]) {
      expect(await page.send('PATCH', '/admin/v1/session', { body: { tenant } })).toMatchObject({ status: 403 })
    }
    expect(await role(page)).toBe('tenant-admin')
  })

  it.each([{}, { tenant: 1 }, { tenant: 'acme', role: 'owner' }])(
    'switch-session 400: %j is no tenant',
    async (wrong) => {
      const { page } = await signInWith(['leads-acme'])
      expect(await page.send('PATCH', '/admin/v1/session', { body: wrong })).toMatchObject({ status: 400 })
    },
  )

  it('switch-session 413: a body above the limit', async () => {
    const { page } = await signInWith(['leads-acme'])
    const sent = { body: { tenant: 'x'.repeat(70_000) } }
    expect(await page.send('PATCH', '/admin/v1/session', sent)).toMatchObject({ status: 413 })
  })

  it('ignores rules whose tenant is missing or one of several of the name, as long as others match', async () => {
    const { page } = await signInWith(['leads-nowhere', 'leads-twins', 'leads-acme'])
    expect((await page.send('GET', '/admin/v1/session')).body.assignments).toHaveLength(1)
  })

  it.each([['leads-nowhere'], ['leads-twins']])(
    'finish-oidc 503: %s alone, whose tenant is not there or not one',
    async (group) => {
      const { received } = await signInWith([group])
      expect(received).toMatchObject({ status: 503, cookies: [expect.stringContaining('rg_oidc=;')] })
    },
  )

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
      process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer, RULES_BY_ADDRESS))
      const { received } = await signIn({ claims: { email_verified: verified } })
      expect(received).toMatchObject({ status: 403, cookies: [expect.stringContaining('rg_oidc=;')] })
      expect(html(received)).toContain('does not say that yours is verified (email_verified)')
    },
  )

  it.each([undefined, null, ''])(
    'finish-oidc 403: without a role, a token whose email is %j is not told to verify it',
    async (email) => {
      process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer, RULES_BY_ADDRESS))
      const { received } = await signIn({ claims: { email, email_verified: undefined } })
      expect(received).toMatchObject({ status: 403 })
      expect(html(received)).toContain('no rule of this gateway gives you a role')
      expect(html(received)).toMatch(/sub: user-1.*email: .*claims in the token: .*groups/)
      expect(html(received)).not.toContain('email_verified')
    },
  )

  it.each([true, 'true'])(
    'finish-oidc 200: an address that gives the role, with email_verified %j',
    async (verified) => {
      process.env.CONSOLE_OIDC = JSON.stringify(settingsFor(provider.issuer, RULES_BY_ADDRESS))
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
    jest.spyOn(Date, 'now').mockImplementation(() => now + 600_000)
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

describe('the cookie of a sign-in', () => {
  const { secrets, newSecret } = useSecretsManager()
  const arn = process.env.FRONT_DOOR_SECRET_ARN
  beforeEach(() => {
    delete process.env.FRONT_DOOR_SECRET_ARN
  })
  afterEach(() => {
    delete process.env.FRONT_DOOR_SECRET_ARN
  })
  afterAll(() => {
    process.env.FRONT_DOOR_SECRET_ARN = arn
  })

  const SIGN_IN: PendingSignIn = {
    state: 's',
    nonce: 'n',
    verifier: 'v',
    redirectUri: 'https://a.example/x',
    target: '/console',
  }
  const AWS = consoleSite('https://a.example')

  async function readBack(cookie: string) {
    const headers = { cookie: cookie.split(';', 1).join('') }
    return await readPendingSignIn(adminEvent('GET', '/admin/v1/oidc/callback', { headers }), AWS)
  }

  it('is read by the process that wrote it, on a local host', async () => {
    expect(await readBack(await pendingCookie(SIGN_IN, AWS))).toMatchObject(SIGN_IN)
  })

  it('is read by every instance behind a front door, also after its secret was replaced', async () => {
    const secret = newSecret({ current: 'one' })
    process.env.FRONT_DOOR_SECRET_ARN = secret
    const cookie = await pendingCookie(SIGN_IN, AWS)
    secrets.set(secret, JSON.stringify({ current: 'two', previous: 'one' }))
    pass(300_001)
    expect(await readBack(cookie)).toMatchObject(SIGN_IN)
    secrets.set(secret, JSON.stringify({ current: 'three', previous: 'two' }))
    pass(300_001)
    expect(await readBack(cookie)).toBeUndefined()
  })

  it('counts only alone', async () => {
    const [one = ''] = (await pendingCookie(SIGN_IN, AWS)).split(';')
    expect(await readBack(one)).toBeDefined()
    const headers = { cookie: `${one}; ${one}` }
    expect(await readPendingSignIn(adminEvent('GET', '/x', { headers }), AWS)).toBeUndefined()
  })
})
