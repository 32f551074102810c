import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { keyIdOf } from '#core/api-key.ts'
import { tokensByLength } from '#core/pricing/token-usage.ts'
import { readTarget } from '#lambdas/relay-server/http-response.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import { CHAT, chatAnswer, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { useOpened } from '../engines/use-opened.ts'
import { TESTER } from '../engines/video-jobs.ts'

const rig = useOpened(() =>
  startRelayRig({
    watch: (operation) => {
      transactions += operation === 'TransactWriteItems' ? 1 : 0
    },
  }),
)
let http: HttpServer
let settled: (millisecondsMax: number) => Promise<void>
let endServer: () => Promise<void>
let renewServer: () => void
let transactions = 0

/** A process has half a second; a test must not depend on how much this machine does in that time. */
const SETTLING_MILLISECONDS_MAX = 60_000

beforeAll(async () => {
  const { RelayServer } = await import('#lambdas/relay-server/relay-server.ts')
  const { relayRouteOf } = await import('#lambdas/relay-server/relay-server.ts')
  let server = new RelayServer()
  renewServer = () => {
    server = new RelayServer()
  }
  settled = (millisecondsMax) => server.settled(millisecondsMax)
  endServer = () => server.end(SETTLING_MILLISECONDS_MAX)
  http = await listen((request, response) => {
    const target = readTarget(request.url)
    const route = relayRouteOf(request.method, target.path)
    if (route !== undefined) {
      void server.serve(route, target, { request, response })
    }
  }, 0)
})
afterAll(async () => {
  await http.close()
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

  it('settles 64 open streams by what each has delivered when the process ends, in a handful of transactions', async () => {
    const { id, key } = await rig.tenant('1000')
    rig.upstreams[0]?.answerWith((response, { body }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(eventOf('word'.repeat(wordsOf(body))))
    })
    const streams = await Promise.all(
      Array.from({ length: 64 }, async (_, index) => {
        const messages = [{ role: 'user', content: String(index + 1) }]
        const response = await send('/v1/chat/completions', key, {
          ...CHAT_BODY,
          messages,
          max_tokens: 900,
          stream: true,
        })
        const reader = response.body?.getReader()
        await reader?.read()
        return { requestId: response.headers.get('x-request-id'), words: index + 1 }
      }),
    )
    const before = transactions
    await endServer()
    renewServer()
    expect(transactions - before).toBeLessThanOrEqual(8)
    const rows = (await rig.rows(id)).filter(({ kind }) => kind !== 'reserve')
    const found = rows.map(({ job, kind, isEstimated, usage }) => [job, kind, isEstimated, usage?.outputTokens])
    expect(new Map(found.map(([job, ...row]) => [job, row]))).toEqual(
      new Map(streams.map(({ requestId, words }) => [requestId, ['settle', true, tokensByLength(4 * words)]])),
    )
    expect(found).toHaveLength(64)
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
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

/** The prompt of a chat says how many words its upstream delivers. */
function wordsOf({ messages }: Record<string, unknown>): number {
  return Number(Object(messages)[0].content)
}

function eventOf(content: string): string {
  const choices = [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }]
  return `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', choices })}\n\n`
}
