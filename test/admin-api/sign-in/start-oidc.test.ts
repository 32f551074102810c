import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { captureLog } from '../../middleware/api-exchange.ts'
import { begin, settingsFor } from './oidc-rig.ts'
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts'

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
  vi.restoreAllMocks()
})
afterAll(async () => {
  process.env = environment
  await provider.stop()
})

const table = () => {
  throw new Error('the start of a sign-in reads no table')
}

describe('start-oidc', () => {
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
