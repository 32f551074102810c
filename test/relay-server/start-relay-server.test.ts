import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RunningRelayServer } from '#lambdas/relay-server/start-relay-server.ts'
import type { HttpServer } from '#platform/http-server/http-server.ts'
import { listenAddress } from '../../lambdas/relay-server/start-relay-server.ts'
import { CHAT, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'
import { startSecretsStub } from '../events/stubs.ts'

describe('startRelayServer', () => {
  const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:front-door'
  const SPOILED_ARN = `${SECRET_ARN}-spoiled`
  const APP = 'https://app.example.com'
  const ENTER = { 'x-reelgate-front-door': 'now' }

  const rig = useOpened(startRelayRig)
  let secrets: HttpServer
  let server: RunningRelayServer

  beforeAll(async () => {
    const values = JSON.stringify({ current: 'now', previous: 'before' })
    secrets = await startSecretsStub(
      new Map([
        [SECRET_ARN, values],
        [SPOILED_ARN, 'no JSON'],
      ]),
    )
    process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER = `http://127.0.0.1:${secrets.port}`
    process.env.CORS_ORIGINS = APP
    const { startRelayServer } = await import('#lambdas/relay-server/start-relay-server.ts')
    server = await startRelayServer({ host: '127.0.0.1', port: 0, frontDoorSecretArn: SECRET_ARN })
  })
  afterAll(async () => {
    await server.stop()
    await secrets.close()
    delete process.env.CORS_ORIGINS
    delete process.env.AWS_ENDPOINT_URL_SECRETS_MANAGER
  })

  type Sent = {
    readonly method?: string
    readonly headers?: Record<string, string>
    readonly body?: string | Buffer
    readonly port?: number
  }

  /** A server that cannot read the secret of its front door. */
  async function startWithoutSecret(): Promise<RunningRelayServer> {
    const { startRelayServer } = await import('#lambdas/relay-server/start-relay-server.ts')
    return await startRelayServer({ host: '127.0.0.1', port: 0, frontDoorSecretArn: SPOILED_ARN })
  }

  function send(path: string, { method = 'GET', headers = {}, body = '', port = server.port }: Sent) {
    return new Promise<{ status: number; headers: object; body: string }>((resolve, reject) => {
      const sending = request({ port, path, method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          const { statusCode: status = 0, headers: received } = response
          resolve({ status, headers: received, body: Buffer.concat(chunks).toString() })
        })
      })
      sending.on('error', reject)
      sending.end(body)
    })
  }

  /** Sends a head that announces a body, and returns the first bytes of the response. */
  async function announce(path: string, headers: Record<string, string>, length: number, port = server.port) {
    const socket = connect(port, '127.0.0.1')
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const head = [`POST ${path} HTTP/1.1`, 'host: local', `content-length: ${length}`, ...lines]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    const [first] = await once(socket, 'data')
    socket.destroy()
    return String(first)
  }

  it.each([
    ['no secret', {}],
    ['a wrong secret', { 'x-reelgate-front-door': 'guess' }],
    ['an empty secret', { 'x-reelgate-front-door': '' }],
  ])('shows nothing to a request with %s', async (_, headers) => {
    const { status, body } = await send('/v1/models', { headers })
    expect([status, JSON.parse(body).error.code]).toEqual([404, 'not_found'])
  })

  it.each(['now', 'before'])('serves a request with the secret %j, also while it is replaced', async (value) => {
    const { key } = await rig.tenant()
    const headers = { 'x-reelgate-front-door': value, authorization: `Bearer ${key}` }
    const { status, body } = await send(`/v1/models/${CHAT}`, { headers })
    expect([status, JSON.parse(body).id]).toEqual([200, CHAT])
  })

  it('says that it serves, to the front door only', async () => {
    const { status, headers, body } = await send('/health', { headers: ENTER })
    expect([status, JSON.parse(body).status]).toEqual([200, 'ok'])
    expect(headers).toMatchObject({ 'cache-control': 'no-store' })
    expect(await send('/health', {})).toMatchObject({ status: 404, headers: { 'content-type': expect.anything() } })
  })

  it.each([
    ['PUT', '/v1/models', 405],
    ['GET', '/v1/none', 404],
  ])('refuses %s %s as the fallback function does', async (method, path, expected) => {
    const { status, headers } = await send(path, { method, headers: { ...ENTER, origin: APP } })
    expect(status).toBe(expected)
    expect(headers).toMatchObject({ 'access-control-allow-origin': APP, 'x-request-id': expect.any(String) })
  })

  it('answers the preflight of a browser', async () => {
    const headers = { ...ENTER, origin: APP, 'access-control-request-headers': 'authorization' }
    const { status, headers: received } = await send('/v1/chat/completions', { method: 'OPTIONS', headers })
    expect(status).toBe(204)
    expect(received).toMatchObject({ 'access-control-allow-methods': 'POST', 'access-control-allow-origin': APP })
  })

  it.each([
    ['a stranger', '/v1/chat/completions', {}, 404],
    ['an unknown route', '/v1/none', ENTER, 404],
    ['a request without a key', '/v1/chat/completions', ENTER, 401],
    ['a request with a mistyped key', '/v1/chat/completions', { ...ENTER, authorization: 'Bearer rg_live_x' }, 401],
    ['a large request with an unknown key', '/v1/chat/completions', { ...ENTER, authorization: 'Bearer nobody' }, 401],
  ])('reads no body of %s before it responds', async (_, path, headers, expected) => {
    expect(await announce(path, headers, 4 * 1024 * 1024)).toMatch(`HTTP/1.1 ${expected} `)
  })

  it('reads no body before it says that the secret cannot be read, or that the body is too large', async () => {
    const lost = await startWithoutSecret()
    expect(await announce('/v1/chat/completions', ENTER, 4 * 1024 * 1024, lost.port)).toMatch('HTTP/1.1 500 ')
    await lost.stop()
    const { key } = await rig.tenant()
    const headers = { ...ENTER, authorization: `Bearer ${key}`, expect: '100-continue' }
    expect(await announce('/v1/chat/completions', headers, 11 * 1024 * 1024)).toMatch('HTTP/1.1 413 ')
  })

  it('asks for a body that a client keeps back only when it reads it', async () => {
    const { key } = await rig.tenant()
    const expecting = { ...ENTER, expect: '100-continue' }
    const known = { ...expecting, authorization: `Bearer ${key}` }
    expect(await announce('/v1/chat/completions', expecting, 100)).toMatch('HTTP/1.1 401 ')
    expect(await announce('/v1/chat/completions', known, 100)).toMatch('HTTP/1.1 100 Continue')
  })

  it('sends the refusal of a body that is too large while the body comes', async () => {
    const { key } = await rig.tenant()
    const body = Buffer.alloc(12 * 1024 * 1024, 32)
    const headers = { ...ENTER, authorization: `Bearer ${key}` }
    expect(await send('/v1/chat/completions', { method: 'POST', headers, body })).toMatchObject({ status: 413 })
  })
})

describe('listenAddress', () => {
  it.each([
    ['0.0.0.0:3000', '0.0.0.0', 3000, false],
    ['[::]:3000', '::', 3000, false],
    ['127.0.0.1:0', '127.0.0.1', 0, true],
    ['127.255.0.9:1', '127.255.0.9', 1, true],
    ['[::1]:3000', '::1', 3000, true],
    ['[0:0::1]:3000', '::1', 3000, true],
    ['127.0.0.1', '127.0.0.1', 80, true],
    // Each of these may lead elsewhere.
    ['localhost:3000', 'localhost', 3000, false],
    ['127.0.0.1.example.com:3000', '127.0.0.1.example.com', 3000, false],
    ['127.0.0.1@0.0.0.0:3000', '0.0.0.0', 3000, false],
    ['[::ffff:10.0.0.1]:3000', '::ffff:a00:1', 3000, false],
    ['128.0.0.1:3000', '128.0.0.1', 3000, false],
  ])('reads %s', (endpoint, host, port, isLoopback) => {
    expect(listenAddress(endpoint)).toStrictEqual({ host, port, isLoopback })
  })

  it.each(['', ':3000', '0.0.0.0:66000', '0.0.0.0:x', '::1:3000'])('refuses %j', (endpoint) => {
    expect(() => listenAddress(endpoint)).toThrow(TypeError)
  })
})
