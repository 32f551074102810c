import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { AUDIENCE, startIssuer, type TestIssuer } from '../engines/test-issuer.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

let issuer: TestIssuer
let gateway: Gateway

/** A rule for the main branch of any repository of `acme`, and one for a service account. */
function withIssuer(yaml: string): string {
  return `${yaml}
identity:
  issuers:
    - issuer: ${issuer.issuer}
      audience: ${AUDIENCE}
      rules:
        - name: ci
          when: { repository: "acme/*", ref: refs/heads/main }
          tenant: demo
          models: [chat-default]
          rate: 1000
          budget: 5/day
`
}

const CI = { sub: 'repo:acme/app:ref:refs/heads/main', repository: 'acme/app', ref: 'refs/heads/main' }

beforeAll(async () => {
  issuer = await startIssuer()
  gateway = await startGateway({ changeConfig: withIssuer })
})
afterAll(async () => {
  await gateway.kill()
  await issuer.stop()
})

async function chat(token: string, model = 'chat-default') {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }] }),
  })
  return { status: response.status, body: Object(await response.json()) }
}

describe('a token of an issuer', () => {
  it('is a caller on chat, whose key is made once, listed, and counted in usage', async () => {
    const token = await issuer.token({ claims: CI })
    const calls = await Promise.all(Array.from({ length: 20 }, () => chat(token)))
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
    const { keys } = Object(await gateway.admin('key', 'list'))
    const own = keys.filter(({ name }: { name: string }) => name === CI.sub)
    expect(own).toMatchObject([{ models: ['chat-default'], rate_per_minute: 1000, budget: { amount: '5' } }])
    expect((await chat(token, 'chat-large')).status).toBe(404)
    await gateway.admin('key', 'revoke', '--key', own[0].id)
    expect(await chat(token)).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } })
  })

  it('is refused without a rule', async () => {
    const token = await issuer.token({ claims: { ...CI, ref: 'refs/heads/other' } })
    expect(await chat(token)).toMatchObject({ status: 403, body: { error: { code: 'no_identity_rule' } } })
  })
})
