import { describe, expect, it } from 'vitest'
import { consoleSettings } from '#core/catalogue/console-settings.ts'
import { describeOidcFailure, oidcSettings } from '#lambdas/admin-api/sign-in/oidc-client.ts'

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

describe('console settings', () => {
  const oidc = { issuer: 'https://login.example.com/a', client_id: 'c', roles: { owner: ['admins'] } }

  it('fill in what most providers need', () => {
    expect(consoleSettings.parse({ oidc }).oidc).toMatchObject({
      scope: 'openid email profile',
      roles: { claim: 'groups', owner: ['admins'], viewer: [] },
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
    { client_secret: 'x' },
  ])('refuse %j', (fields) => {
    expect(consoleSettings.safeParse({ oidc: { ...oidc, ...fields } }).success).toBe(false)
  })
})
