import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { consoleSettings } from '#core/catalogue/gateway-config.ts'
import { describeOidcFailure, OidcClient } from '#lambdas/admin-api/sign-in/oidc-client.ts'
import { oidcSettings } from '#lambdas/admin-api/sign-in/sessions.ts'
import { pass, useSecretsManager } from '../../platform/fake-secrets-manager.ts'
import { settingsFor } from './oidc-rig.ts'
import { type ScriptedProvider, startScriptedProvider } from './scripted-provider.ts'

describe('oidc client', () => {
  it('has the settings of the deployment, or none', () => {
    expect(oidcSettings({ CONSOLE_OIDC: '{"issuer":"https://a.example"}' })).toMatchObject({
      issuer: 'https://a.example',
    })
    expect(oidcSettings({ CONSOLE_OIDC: '' })).toBeUndefined()
    expect(oidcSettings({})).toBeUndefined()
  })

  it('describes failures by their names and codes, and not by the tokens that they carry', () => {
    const error = Object.assign(new Error('bad claim', { cause: { id_token: 'eyJhbGciOi' } }), {
      code: 'OAUTH_X',
      error: 'y',
    })
    expect(describeOidcFailure(error)).toBe('Error OAUTH_X y: bad claim')
    expect(describeOidcFailure('eyJhbGciOi')).toBe('unknown')
  })
})

describe('oidc client: the client secret', () => {
  const { secrets, asked, newSecret } = useSecretsManager()
  let provider: ScriptedProvider
  beforeAll(async () => {
    provider = await startScriptedProvider()
  })
  afterAll(async () => {
    delete process.env.FRONT_DOOR_SECRET_ARN
    await provider.stop()
  })

  /** A user who comes back from the provider. */
  async function claims() {
    const client = new OidcClient(settingsFor(provider.issuer))
    const pending = {
      state: 's',
      nonce: 'n',
      verifier: 'v'.repeat(43),
      redirectUri: 'http://127.0.0.1/back',
      target: '/',
    }
    const code = provider.authorize(new URL(await client.authorizationUrl(pending)))
    return await client.claimsOf(new URLSearchParams({ code, state: 's', iss: provider.issuer }), pending)
  }

  it.each([
    ['a secret that was replaced', { oidc_client_secret: 'old' }],
    ['a secret that was stored after the first sign-in', { origin: 'x' }],
  ])('finds %s at once when the provider refuses the client', async (_case, before) => {
    const id = newSecret(before)
    process.env.FRONT_DOOR_SECRET_ARN = id
    provider.forge('oidc_client_secret' in before ? { secret: 'old' } : {})
    expect(await claims()).toMatchObject({ sub: 'user-1' })
    secrets.set(id, '{"oidc_client_secret":"new"}')
    provider.forge({ secret: 'new' })
    pass(10_000)
    expect(await claims()).toMatchObject({ sub: 'user-1' })
    expect(asked).toHaveLength(2)
  })

  it('asks the provider once with a secret that stays refused', async () => {
    process.env.FRONT_DOOR_SECRET_ARN = newSecret({ oidc_client_secret: 'wrong' })
    provider.forge({ secret: 'right' })
    const before = provider.asked.length
    await expect(claims()).rejects.toMatchObject({ error: 'invalid_client' })
    expect(provider.asked.slice(before)).toEqual(['/token'])
  })
})

describe('console settings', () => {
  const RULE = { name: 'admins', when: { groups: 'admins' }, role: 'owner' }
  const oidc = { issuer: 'https://login.example.com/a', client_id: 'c', rules: [RULE] }

  it('fill in what most providers need', () => {
    expect(consoleSettings.parse({ oidc }).oidc).toMatchObject({
      scope: 'openid email profile',
      rules: [RULE],
    })
    expect(consoleSettings.parse({})).toEqual({})
  })

  it.each([
    { issuer: 'http://login.example.com' },
    { issuer: 'https://login.example.com?x=1' },
    { issuer: 'https://user@login.example.com' },
    { issuer: 'login.example.com' },
    { client_id: '' },
    { roles: {} },
    { rules: [] },
    { rules: [{ ...RULE, when: {} }] },
    { rules: [{ ...RULE, when: { groups: [] } }] },
    { rules: [{ ...RULE, when: { groups: { a: 'b' } } }] },
    { rules: [{ ...RULE, role: 'tenant' }] },
    { rules: [{ ...RULE, role: 'operator' }] },
    { rules: [{ ...RULE, role: 'tenant-admin' }] },
    { rules: [{ ...RULE, tenant: 'acme' }] },
    { rules: [{ ...RULE, models: ['a'] }] },
    { client_secret: 'x' },
  ])('refuse %j', (fields) => {
    expect(consoleSettings.safeParse({ oidc: { ...oidc, ...fields } }).success).toBe(false)
  })
})
