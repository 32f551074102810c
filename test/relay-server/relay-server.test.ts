import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { keyIdOf } from '#core/api-key.ts'
import { readTarget } from '#lambdas/relay-server/received-over-http.ts'
import { CHAT, type RelayRig, startRelayRig } from '../engines/relay-rig.ts'
import { chatAnswer, sendJson } from '../engines/relay-upstream.ts'
import { TESTER } from '../engines/tester.ts'

let rig: RelayRig
let http: HttpServer
let settled: (millisecondsMax: number) => Promise<void>
let endServer: () => Promise<void>

beforeAll(async () => {
  rig = await startRelayRig()
  const { RelayServer } = await import('#lambdas/relay-server/relay-server.ts')
  const { relayRouteOf } = await import('#lambdas/relay-server/relay-routes.ts')
  const server = new RelayServer()
  settled = (millisecondsMax) => server.settled(millisecondsMax)
  endServer = () => server.end(500)
  http = await listen((request, response) => {
    const target = readTarget(request.url)
    const route = relayRouteOf(request.method, target.path)
    if (route !== undefined) {
      void server.answer(route, target, { request, response })
    }
  }, 0)
})
afterAll(async () => {
  await http.close()
  await rig.close()
})

const CHAT_BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }

async function send(path: string, key: string, body?: object | string) {
  const method = body === undefined ? 'GET' : 'POST'
  const headers = { authorization: `Bearer ${key}` }
  const text = typeof body === 'object' ? JSON.stringify(body) : body
  return await fetch(`http://127.0.0.1:${http.port}${path}`, {
    method,
    headers,
    ...(text === undefined ? {} : { body: text }),
  })
}

describe('RelayServer', () => {
  it('relays a chat, and bills it', async () => {
    const { id, key } = await rig.tenant()
    const response = await send('/v1/chat/completions', key, CHAT_BODY)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ object: 'chat.completion', model: CHAT })
    await settled(5_000)
    const [settlement] = await rig.rows(id)
    expect(settlement).toMatchObject({ kind: 'settle', job: response.headers.get('x-request-id') })
  })

  it('lists models, and shows one', async () => {
    const { key } = await rig.tenant()
    const { data } = (await (await send('/v1/models', key)).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toContain(CHAT)
    expect(await (await send(`/v1/models/${CHAT}`, key)).json()).toMatchObject({ id: CHAT, object: 'model' })
    expect((await send('/v1/models/none', key)).status).toBe(404)
  })

  it('asks again for a key that lists models, so that a revoked one sees none', async () => {
    const { key } = await rig.tenant()
    expect((await send('/v1/models', key)).status).toBe(200)
    await revokeApiKey(rig.table, keyIdOf(key) ?? '', TESTER)
    expect((await send('/v1/models', key)).status).toBe(401)
  })

  it('refuses a body above the limit of a request before it is complete', async () => {
    const { key } = await rig.tenant()
    const response = await send('/v1/chat/completions', key, 'x'.repeat(11 * 1024 * 1024)).catch(() => undefined)
    expect(response?.status ?? 413).toBe(413)
  })

  it('settles the request of a client that has left', async () => {
    const { id, key } = await rig.tenant()
    const asked = Promise.withResolvers<void>()
    const left = Promise.withResolvers<void>()
    rig.upstreams[0]?.answerWith(async (response) => {
      asked.resolve()
      await left.promise
      sendJson(response, chatAnswer())
    })
    const body = JSON.stringify(CHAT_BODY)
    const socket = connect(http.port, '127.0.0.1')
    await once(socket, 'connect')
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: local\r\nauthorization: Bearer ${key}\r\n`)
    socket.write(`content-length: ${body.length}\r\n\r\n${body}`)
    await asked.promise
    socket.destroy()
    left.resolve()
    await settled(10_000)
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
    expect((await rig.rows(id))[0]).toMatchObject({ kind: 'settle' })
  })

  // The last test: the server takes no request after it.
  it('settles open requests by what was delivered when the process ends', async () => {
    const [streaming, silent, waiting] = await Promise.all([rig.tenant(), rig.tenant(), rig.tenant()])
    const chat = (key: string, body: object = {}) => send('/v1/chat/completions', key, { ...CHAT_BODY, ...body })
    const began = Promise.withResolvers<void>()
    let asked = 0
    rig.upstreams[0]?.answerWith((response, { body }) => {
      asked += 1
      if (asked === 3) {
        began.resolve()
      }
      if (body.stream === true) {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(asked === 1 ? eventOf('four') : ': nothing yet\n\n')
      }
    })
    const stream = await chat(streaming.key, { stream: true })
    const others = [chat(silent.key, { stream: true }), chat(waiting.key)]
    await began.promise
    await endServer()
    expect(await stream.text()).toMatch(/"four"[\s\S]*"answer_timeout"/)
    expect((await Promise.all(others)).map(({ status }) => status)).toEqual([503, 503])
    expect((await rig.rows(streaming.id))[0]).toMatchObject({ kind: 'settle', isEstimated: true })
    for (const { id } of [silent, waiting]) {
      expect((await rig.rows(id))[0]).toMatchObject({ kind: 'release' })
    }
    for (const { id } of [streaming, silent, waiting]) {
      expect(await rig.balance(id)).toMatchObject({ held: '0' })
    }
    expect((await chat(waiting.key)).status).toBe(503)
  })
})

function eventOf(content: string): string {
  const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })}\n\n`
}
