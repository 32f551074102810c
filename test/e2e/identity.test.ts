import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { identityTest } from '../../lib/cli/admin/identity.ts'
import { runCommand } from '../cli/admin/run-command.ts'
import { AUDIENCE, startIssuer, type TestIssuer } from '../engines/test-issuer.ts'
import { type Gateway, startGateway } from './start-gateway.ts'
import { eventually } from './video-client.ts'

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
        - name: nightly
          when: { repository: "acme/*", ref: refs/heads/nightly }
          tenant: demo
          models: [text-embedding-3-small]
          rate: 1000
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

  it('has what its own rule allows, whatever another token of its subject may', async () => {
    const sub = 'two-rules'
    const strong = await issuer.token({ claims: { ...CI, sub } })
    expect((await chat(strong)).status).toBe(200)
    expect((await chat(await issuer.token({ claims: { ...CI, sub, ref: 'refs/heads/nightly' } }))).status).toBe(404)
    expect((await chat(strong)).status).toBe(200)
  })

  it('is a caller on every route that takes a key, and on messages as x-api-key', async () => {
    const token = await issuer.token({ claims: { ...CI, sub: 'routes' } })
    const get = async (path: string, headers: Record<string, string> = { authorization: `Bearer ${token}` }) =>
      (await fetch(`${gateway.url}${path}`, { headers })).status
    for (const path of ['/v1/models', '/v1/usage', '/v1/balance', '/v1/video/generations']) {
      expect([path, await get(path)]).toEqual([path, 200])
    }
    expect(await get('/v1/models', { 'x-api-key': token })).toBe(200)
    expect(await get('/v1/video/generations/none')).toBe(404)
  })

  it('spends in usage and in the budget of its own key', async () => {
    const token = await issuer.token({ claims: { ...CI, sub: 'spender' } })
    expect((await chat(token)).status).toBe(200)
    const headers = { authorization: `Bearer ${token}` }
    const used = async () =>
      Object(await (await fetch(`${gateway.url}/v1/usage?group_by=key`, { headers })).json()).data
    const isUsed = (data: { key_name: string }[]) => data.some(({ key_name: name }) => name === 'spender')
    expect(isUsed(await eventually(used, isUsed))).toBe(true)
    const balance = Object(await (await fetch(`${gateway.url}/v1/balance`, { headers })).json())
    expect(balance.key.budget).toMatchObject({ amount: '5', period: 'day' })
    expect(Number(balance.key.budget.spent)).toBeGreaterThan(0)
  })

  it('names users in the header of any relayed request or the body, who are in usage once the tenant counts them', async () => {
    const token = await issuer.token({ claims: { ...CI, sub: 'users' } })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const usage = async () => {
      const response = await fetch(`${gateway.url}/v1/usage?group_by=user`, { headers })
      return { status: response.status, body: Object(await response.json()) }
    }
    expect(await usage()).toMatchObject({ status: 400, body: { error: { param: 'group_by' } } })
    await gateway.admin('tenant', 'users', '--tenant', 'demo', '--keep', 'given')
    const body = { model: 'chat-default', messages: [{ role: 'user', content: 'hello' }], user: 'grace' }
    const send = (more: Record<string, string> = {}) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify(body),
      })
    expect([(await send()).status, (await send({ 'x-reelgate-user': 'ada@example.com' })).status]).toEqual([200, 200])
    const others = {
      '/v1/responses': { model: 'chat-default', input: 'hello' },
      '/v1/messages': { model: 'chat-default', messages: body.messages, max_tokens: 9 },
      '/v1/completions': { model: 'chat-default', prompt: 'hello' },
      '/v1/embeddings': { model: 'text-embedding-3-small', input: 'hello' },
      '/v1/images/generations': { model: 'image-v3', prompt: 'a boat' },
    }
    for (const [path, relayed] of Object.entries(others)) {
      const named = { authorization: 'Bearer e2e-key', 'content-type': 'application/json', 'x-reelgate-user': path }
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: named,
        body: JSON.stringify(relayed),
      })
      expect([path, response.status, await response.text()]).toMatchObject([path, 200, expect.anything()])
    }
    const names = async () => Object(await usage()).body.data.map(({ user }: { user: string }) => user)
    const areCounted = (users: string[]) =>
      ['ada@example.com', 'grace', ...Object.keys(others)].every((user) => users.includes(user))
    expect(areCounted(await eventually(names, areCounted))).toBe(true)
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true })
  })

  it('is explained by `identity test`, which never shows it', async () => {
    const file = join(gateway.dataDirectory, 'token.jwt')
    writeFileSync(file, `${await issuer.token({ claims: { ...CI, sub: 'tested' } })}\n`)
    const told = await gateway.admin('identity', 'test', '--token-file', file)
    expect(told).toMatchObject({ accepted: true, rule: 'ci', tenant: 'demo', subject: 'tested', state: 'not used yet' })
    writeFileSync(file, await issuer.token({ claims: { ...CI, aud: 'https://other.example.com' } }))
    await expect(gateway.admin('identity', 'test', '--token-file', file)).rejects.toThrow('audience (aud)')
    writeFileSync(file, await issuer.token({ claims: { ...CI, ref: 'refs/heads/other' } }))
    await expect(gateway.admin('identity', 'test', '--token-file', file)).rejects.toThrow('exited with 1')
    writeFileSync(file, await issuer.token({ claims: { sub: 'me\nrule ci: allowed' } }))
    const options = { 'token-file': file, config: gateway.configFile }
    const { text } = await runCommand(identityTest, { options })
    expect(text.split('\n')).toHaveLength(3)
  })

  it('is told by `identity test` what its key may do, that it is revoked, and that its issuer is down', async () => {
    const file = join(gateway.dataDirectory, 'token.jwt')
    const claims = { ...CI, sub: 'lowered' }
    writeFileSync(file, await issuer.token({ claims }))
    expect((await chat(await issuer.token({ claims }))).status).toBe(200)
    const { key } = Object(await gateway.admin('identity', 'test', '--token-file', file))
    await gateway.admin('key', 'set', '--key', key, '--rate', '20', '--budget', '1/day')
    const told = () => gateway.admin('identity', 'test', '--token-file', file)
    expect(await told()).toMatchObject({ accepted: true, state: 'active', rate_per_minute: 20, budget: '1/day' })
    await gateway.admin('key', 'revoke', '--key', key)
    await expect(told()).rejects.toThrow('the key of its subject is revoked')
    issuer.setDown(true)
    try {
      await expect(told()).rejects.toThrow(`the keys of the issuer ${issuer.issuer} cannot be read`)
    } finally {
      issuer.setDown(false)
    }
  })

  it('is refused by the check that it fails, in the form of its route, and without a word of the token', async () => {
    const token = await issuer.token({ claims: { ...CI, aud: 'https://other.example.com' } })
    const refused = await chat(token)
    expect(refused).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } })
    expect(refused.body.error.message).toBe('invalid token: it is for another audience (aud)')
    const long = await chat(await issuer.token({ claims: { ...CI, groups: 'g'.repeat(8_192) } }))
    expect(long).toMatchObject({ status: 401, body: { error: { code: 'invalid_token' } } })
    expect(long.body.error.message).toBe('invalid token: it is longer than 8192 characters')
    const videos = await fetch(`${gateway.url}/v1/video/generations`, { headers: { authorization: `Bearer ${token}` } })
    expect([videos.status, await videos.json()]).toMatchObject([401, { error: 'invalid token' }])
    const messages = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      body: '{}',
      headers: { 'x-api-key': token },
    })
    expect([messages.status, await messages.json()]).toMatchObject([401, { error: { type: 'authentication_error' } }])
  })

  it('is one key with one budget for each of a hundred subjects at once, and nothing is lost', async () => {
    const subjects = Array.from({ length: 100 }, (_, index) => `crowd-${index}`)
    const tokens = await Promise.all(subjects.map((sub) => issuer.token({ claims: { ...CI, sub } })))
    const calls = await Promise.all([...tokens, ...tokens].map((token) => chat(token)))
    expect(new Set(calls.map(({ status }) => status))).toEqual(new Set([200]))
    const { keys } = Object(await gateway.admin('key', 'list'))
    const crowd = keys.filter(({ subject = '' }: { subject?: string }) => subject.startsWith('crowd-'))
    expect(crowd.map(({ subject }: { subject: string }) => subject).toSorted()).toEqual(subjects.toSorted())
    expect(new Set(crowd.map(({ id }: { id: string }) => id)).size).toBe(100)
    const { entries } = Object(await gateway.admin('audit', '--limit', '400'))
    const made = entries.filter(
      ({ action, after }: { action: string; after: { name?: string } | null }) =>
        action === 'key create' && after?.name?.startsWith('crowd-'),
    )
    expect(made).toHaveLength(100)
    const costs = await Promise.all(
      tokens.map(async (token) => {
        const headers = { authorization: `Bearer ${token}` }
        const balance = await (await fetch(`${gateway.url}/v1/balance`, { headers })).json()
        return Object(balance).key.budget.spent
      }),
    )
    // Each has paid for its own two requests.
    expect(new Set(costs)).toEqual(new Set([costs[0]]))
    expect(Number(costs[0])).toBeGreaterThan(0)
    expect(await gateway.admin('ledger', 'verify')).toMatchObject({ ok: true })
  })

  it('is in no response, log line or file of the host, whatever it is worth and whatever fails', async () => {
    const tokens = await Promise.all([
      issuer.token({ claims: { ...CI, sub: 'secret' } }),
      issuer.token({ claims: { ...CI, aud: 'https://other.example.com' } }),
      issuer.token({ claims: { ...CI, exp: 1_000 } }),
      issuer.token({ claims: { ...CI, ref: 'refs/heads/other' } }),
      issuer.token({ claims: { ...CI, sub: 's'.repeat(3_000) } }),
      issuer.token({ claims: CI, header: { typ: 'logout+jwt' } }),
      issuer.token({ claims: CI, header: { kid: 'unknown' } }),
      issuer.token({ claims: CI }).then((token) => `${token.slice(0, -8)}AAAAAAAA`),
      issuer.token({ claims: CI }).then((token) => token.slice(0, -20)),
    ])
    const requests = fc.sample(
      fc.record({
        token: fc.constantFrom(...tokens),
        path: fc.constantFrom(
          '/v1/chat/completions',
          '/v1/responses',
          '/v1/messages',
          '/v1/embeddings',
          '/v1/video/generations',
          '/v1/usage',
          '/v1/nowhere',
        ),
        prompt: fc.constantFrom('hello', '[error:500]', '[error:401]', '[error:400]', '[error:429:quota]', ''),
        stream: fc.boolean(),
        isDown: fc.boolean(),
        header: fc.constantFrom('authorization', 'x-api-key'),
      }),
      120,
    )
    const told: string[] = []
    for (const { token, path, prompt, stream, isDown, header } of requests) {
      issuer.setDown(isDown)
      const isRead = path === '/v1/usage'
      const model = path === '/v1/embeddings' ? 'text-embedding-3-small' : 'chat-default'
      const messages = [{ role: 'user', content: prompt }]
      const response = await fetch(`${gateway.url}${path}`, {
        method: isRead ? 'GET' : 'POST',
        headers: {
          [header]: header === 'authorization' ? `Bearer ${token}` : token,
          'content-type': 'application/json',
        },
        body: isRead ? null : JSON.stringify({ model, messages, input: prompt, prompt, stream, max_tokens: 5 }),
      })
      told.push(JSON.stringify([...response.headers]), await response.text())
    }
    issuer.setDown(false)
    const files = readdirSync(gateway.dataDirectory, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile() && file.name !== 'token.jwt')
      .map(({ parentPath, name }) => join(parentPath, name))
    expect(files.some((name) => name.includes('sqlite'))).toBe(true)
    const places = [
      ...files.map((name) => [name, readFileSync(name, 'latin1')] as const),
      ['the responses', told.join('\n')] as const,
      ['the log', gateway.output()] as const,
    ]
    for (const [, payload = '', signature = ''] of tokens.map((token) => token.split('.'))) {
      for (const [place, text] of places) {
        for (const part of [payload, signature.slice(0, 40)]) {
          expect([place, text.includes(part)]).toEqual([place, false])
        }
      }
    }
  })

  it('is refused without a rule', async () => {
    const token = await issuer.token({ claims: { ...CI, ref: 'refs/heads/other' } })
    expect(await chat(token)).toMatchObject({ status: 403, body: { error: { code: 'no_identity_rule' } } })
  })
})
