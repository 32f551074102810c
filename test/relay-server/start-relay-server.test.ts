import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { HttpServer } from '#adapters/http-server/http-server.ts'
import type { RunningRelayServer } from '#lambdas/relay-server/start-relay-server.ts'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { startSecretsStub } from '../events/secrets-stub.ts'

const SECRET_ARN = 'arn:aws:secretsmanager:us-east-1:000000000000:secret:front-door'
const SPOILED_ARN = `${SECRET_ARN}-spoiled`
const APP = 'https://app.example.com'
const ENTER = { 'x-reelgate-front-door': 'now' }

let rig: RelayRig
let secrets: HttpServer
let server: RunningRelayServer

beforeAll(async () => {
  rig = await startRelayRig()
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
  await rig.close()
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

/** Sends a request, and says whether the response began before the whole body was sent. */
function send(path: string, { method = 'GET', headers = {}, body = '', port = server.port }: Sent) {
  return new Promise<{ status: number; headers: object; body: string; isEarly: boolean }>((resolve, reject) => {
    const sending = request({ port, path, method, headers, agent: false }, (response) => {
      const isEarly = !sending.writableFinished
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.on('end', () => {
        const { statusCode: status = 0, headers: received } = response
        resolve({ status, headers: received, body: Buffer.concat(chunks).toString(), isEarly })
      })
    })
    sending.on('error', reject)
    sending.end(body)
  })
}

describe('startRelayServer', () => {
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

  it('says that it serves and which release it is, to the front door alone', async () => {
    process.env.RELEASE = '0a1b2c3d4e5f'
    const { status, headers, body } = await send('/health', { headers: ENTER })
    expect([status, JSON.parse(body).status]).toEqual([200, 'ok'])
    expect(headers).toMatchObject({ 'x-reelgate-release': '0a1b2c3d4e5f', 'cache-control': 'no-store' })
    delete process.env.RELEASE
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
    ['a stranger', {}, 404],
    ['an unknown route', ENTER, 404],
  ])('reads the whole body of %s before it responds', async (_, headers, expected) => {
    const body = Buffer.alloc(4 * 1024 * 1024, 32)
    expect(await send('/v1/none', { method: 'POST', headers, body })).toMatchObject({
      status: expected,
      isEarly: false,
    })
  })

  it('reads the whole body of a request without a key before it is refused', async () => {
    const body = JSON.stringify({ model: CHAT, messages: [{ role: 'user', content: 'x'.repeat(4 * 1024 * 1024) }] })
    const refused = await send('/v1/chat/completions', { method: 'POST', headers: ENTER, body })
    expect(refused).toMatchObject({ status: 401, isEarly: false })
  })

  it('reads the whole body of a request before it says that the secret cannot be read', async () => {
    const lost = await startWithoutSecret()
    const body = Buffer.alloc(4 * 1024 * 1024, 32)
    const refused = await send('/v1/chat/completions', { method: 'POST', headers: ENTER, body, port: lost.port })
    await lost.stop()
    expect(refused).toMatchObject({ status: 500, isEarly: false })
  })

  it('reads a body that is too large to its end before it is refused', async () => {
    const body = Buffer.alloc(12 * 1024 * 1024, 32)
    const refused = await send('/v1/chat/completions', { method: 'POST', headers: ENTER, body })
    expect(refused).toMatchObject({ status: 413, isEarly: false })
  })
})
