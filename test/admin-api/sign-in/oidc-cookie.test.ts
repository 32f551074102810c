import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { consoleSite } from '#core/admin/console-site.ts'
import { type PendingSignIn, pendingCookie, readPendingSignIn } from '#lambdas/admin-api/sign-in/oidc-cookie.ts'
import { adminEvent } from '../../middleware/admin-exchange.ts'
import { pass, useSecretsManager } from '../../platform/fake-secrets-manager.ts'

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

describe('the cookie of a sign-in', () => {
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
