import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import OpenAI, { RateLimitError } from 'openai'
import { browserFetch, CrossOriginRefusedError } from './browser-fetch.ts'
import { type Gateway, startGateway } from './start-gateway.ts'

const APP = 'https://app.example.com'
const OTHER = 'https://other.example'
const KEY = { authorization: 'Bearer e2e-key' }

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({
    changeConfig: (yaml) => yaml.replace('cors: { origins: [] }', `cors: { origins: [${APP}] }`),
  })
})
afterAll(async () => {
  await gateway.stop()
})

const inApp: typeof fetch = browserFetch(APP)

function sdkOf(apiKey: string, from: typeof fetch = inApp) {
  return new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey, fetch: from, maxRetries: 0, dangerouslyAllowBrowser: true })
}

const CHAT = { model: 'chat-default', messages: [{ role: 'user' as const, content: 'Say hello' }] }

describe('a script of an allowed origin', () => {
  it('reads responses, and the headers that it needs', async () => {
    const response = await inApp(`${gateway.url}/v1/models?limt=1`, { headers: KEY })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(response.headers.get('x-reelgate-ignored')).toBe('limt')
  })

  it('streams with the official SDK, and reads what was ignored', async () => {
    const { data, response } = await sdkOf('e2e-key')
      .chat.completions.create({ ...CHAT, stream: true, ...{ durration: 1 } })
      .withResponse()
    let text = ''
    for await (const { choices } of data) {
      text += choices[0]?.delta.content ?? ''
    }
    expect(text).not.toBe('')
    expect(response.headers.get('x-reelgate-ignored')).toBe('durration')
  })

  it.each([
    ['GET', '/v1/models', { authorization: 'Bearer other' }, undefined, 401],
    ['POST', '/v1/chat/completions', { authorization: 'Bearer other' }, '{}', 401],
    ['POST', '/v1/chat/completions', KEY, '{', 400],
    ['POST', '/v1/video/generations', KEY, '{', 400],
    ['GET', '/v1/nothing', {}, undefined, 404],
    ['POST', '/v1/models', { 'content-type': 'text/plain' }, '{}', 405],
    ['GET', '/health', {}, undefined, 200],
    ['GET', '/openapi.json', {}, undefined, 200],
  ])('reads the response to %s %s %j %s: %i', async (method, path, headers, body, status) => {
    const response = await inApp(gateway.url + path, { method, headers, ...(body === undefined ? {} : { body }) })
    expect(response.status).toBe(status)
    expect(response.headers.get('x-request-id')).toEqual(expect.any(String))
  })

  it('is told at its preflight that a route lacks a method', async () => {
    const sent = inApp(`${gateway.url}/v1/models`, { method: 'PUT', headers: KEY, body: '{}' })
    await expect(sent).rejects.toThrow('the method PUT is not allowed')
  })

  it('reads when to come again after a 429', async () => {
    const { key } = Object(await gateway.admin('key', 'create', '--tenant', 'demo', '--rate', '1'))
    const client = sdkOf(key)
    await client.models.list()
    const error = await client.models.list().then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(RateLimitError)
    expect(Object(error).headers.get('retry-after')).toMatch(/^\d+$/)
    expect(Object(error).headers.get('x-ratelimit-remaining-requests')).toBe('0')
  })

  it('reads a refusal of the platform', async () => {
    const body = 'x'.repeat(10 * 1024 * 1024 + 1)
    const response = await inApp(`${gateway.url}/v1/chat/completions`, { method: 'POST', headers: KEY, body })
    expect(response.status).toBe(413)
    expect(response.headers.get('x-request-id')).toEqual(expect.any(String))
  })

  it('creates, deletes and plays a video, in ranges and behind a preflight', async () => {
    const jobs = `${gateway.url}/v1/video/generations`
    const headers = { ...KEY, 'content-type': 'application/json', 'idempotency-key': 'browser' }
    const body = JSON.stringify({ model: 'famB-1.1-t2v', prompt: 'a boat' })
    const created = await inApp(jobs, { method: 'POST', headers, body })
    expect(created.status).toBe(201)
    const { id } = Object(await created.json())
    const { url } = await gateway.api.until(id, 'succeeded')
    const whole = await inApp(String(url))
    expect([whole.status, whole.headers.get('accept-ranges')]).toEqual([200, 'bytes'])
    const size = (await whole.arrayBuffer()).byteLength
    const part = await inApp(String(url), { headers: { range: 'bytes=0-99', 'if-range': '"other"' } })
    expect([200, 206]).toContain(part.status)
    const simple = await inApp(String(url), { headers: { range: 'bytes=0-99' } })
    expect([simple.status, simple.headers.get('content-range')]).toEqual([206, `bytes 0-99/${size}`])
    await expect(browserFetch(OTHER)(String(url))).rejects.toThrow(CrossOriginRefusedError)
    expect((await inApp(`${jobs}/${id}`, { method: 'DELETE', headers: KEY })).status).toBe(200)
  })
})

describe('a script of another origin', () => {
  it('is refused at its preflight, and nothing is sent', async () => {
    await expect(browserFetch(OTHER)(`${gateway.url}/v1/models`, { headers: KEY })).rejects.toThrow(
      CrossOriginRefusedError,
    )
    const response = await fetch(`${gateway.url}/v1/models`, { method: 'OPTIONS', headers: { origin: OTHER } })
    expect(response.status).toBe(403)
  })

  it('cannot read a response without a preflight either', async () => {
    await expect(browserFetch(OTHER)(`${gateway.url}/health`)).rejects.toThrow(CrossOriginRefusedError)
  })
})

describe('a request without an origin', () => {
  it('is served as always, and no cache gives its response to a script', async () => {
    const { status, headers } = await gateway.api.send('GET', '/v1/models')
    expect(status).toBe(200)
    expect(headers.get('vary')).toBe('Origin')
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('a preflight', () => {
  it('is a 204 without a length, in the words of the Fetch standard', async () => {
    const { status, headers } = await fetch(`${gateway.url}/v1/video/generations/some-id`, {
      method: 'OPTIONS',
      headers: {
        origin: APP,
        'access-control-request-method': 'DELETE',
        'access-control-request-headers': 'authorization',
      },
    })
    expect(status).toBe(204)
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, DELETE',
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '7200',
      vary: 'Access-Control-Request-Headers, Origin',
    })
    expect(headers.has('content-length')).toBe(false)
  })
})
