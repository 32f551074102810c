import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { findFreePort } from '#local/dynamodb-engine.ts'
import { type HttpServer, listen } from '#platform/http-server/http-server.ts'
import { REPOSITORY } from '../e2e/child-environment.ts'
import { eventually } from '../e2e/video-client.ts'
import { auditTenant } from '../engines/audit.ts'
import { CHAT, chatAnswer, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { reconcileRequests } from '../engines/start-engines.ts'
import { useOpened } from '../engines/use-opened.ts'
import { keepChildOutput } from '../logs/keep-child-output.ts'

const CHAT_BODY = { model: CHAT, messages: [{ role: 'user', content: 'hi' }], max_tokens: 5 }
const EVENT = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'four' }, finish_reason: null }],
})}\n\n`

const realTimer = globalThis.setTimeout
const rig = useOpened(() => startRelayRig({ channel: { timeouts: { first_byte_seconds: 280 } } }))
let http: HttpServer
let settled: (millisecondsMax: number) => Promise<void>

beforeAll(async () => {
  const { RelayServer } = await import('#lambdas/relay-server/relay-server.ts')
  const { relayRouteOf } = await import('#lambdas/relay-server/relay-server.ts')
  const server = new RelayServer()
  settled = (millisecondsMax) => server.settled(millisecondsMax)
  http = await listen((request, response) => {
    const path = request.url ?? ''
    const route = relayRouteOf(request.method, path)
    if (route !== undefined) {
      void server.serve(route, { path, queryNames: [] }, { request, response })
    }
  }, 0)
})
afterAll(async () => {
  await http.close()
})
afterEach(() => {
  Object.assign(globalThis, { setTimeout: realTimer })
})

/** Long enough for a request to reach its upstream on a machine that is busy with something else. */
const HURRIED_MILLISECONDS = 2_000

/** Lets timers of these lengths pass in two seconds, also of those that were a few seconds longer at first. */
function hurry(...lengths: readonly number[]): void {
  const hurried = (callback: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) =>
    realTimer(
      callback,
      lengths.some((each) => milliseconds > each - 5_000 && milliseconds <= each) ? HURRIED_MILLISECONDS : milliseconds,
      ...values,
    )
  Object.assign(globalThis, { setTimeout: hurried })
}

function chat(key: string, body: object = {}, { port = http.port, headers = {} } = {}): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify({ ...CHAT_BODY, ...body }),
  })
}

/** From now on streams begin with one word and go on only as the test says. */
function beginStreams(): ServerResponse[] {
  const open: ServerResponse[] = []
  rig.upstreams[0]?.answerWith((response) => {
    open.push(response)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(EVENT)
  })
  return open
}

describe('RelayServer: the longest time of a request', () => {
  it('ends a stream after 805 seconds with an event that says so, and bills what was delivered', async () => {
    const { id, key } = await rig.tenant()
    beginStreams()
    hurry(805_000, 30_000)
    const stream = await chat(key, { stream: true })
    const text = await stream.text()
    expect(text).toMatch(/"four"[\s\S]*"answer_timeout"/)
    expect(text).not.toContain('[DONE]')
    await settled(10_000)
    expect((await rig.rows(id))[0]).toMatchObject({ kind: 'settle', isEstimated: true })
    expect(await rig.balance(id)).toMatchObject({ held: '0' })
  })

  it('counts the time in which the body came', async () => {
    const { key } = await rig.tenant()
    beginStreams()
    const lengths: number[] = []
    const counted = (callback: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) => {
      lengths.push(milliseconds)
      return realTimer(callback, milliseconds >= 30_000 ? 100 : milliseconds, ...values)
    }
    const sending = request({ port: http.port, path: '/v1/chat/completions', method: 'POST', agent: false })
    sending.setHeader('authorization', `Bearer ${key}`)
    const body = JSON.stringify({ ...CHAT_BODY, stream: true })
    sending.write(body.slice(0, 10))
    await new Promise((resolve) => realTimer(resolve, 400))
    Object.assign(globalThis, { setTimeout: counted })
    sending.end(body.slice(10))
    const [response] = await once(sending, 'response')
    await response.toArray()
    await settled(10_000)
    const [left = 0] = lengths.filter((length) => length > 800_000)
    expect(left).toBeGreaterThan(790_000)
    expect(left).toBeLessThan(804_700)
  })

  it.each([{}, { stream: true }])(
    'responds with a 504 that is not to be retried before the front door gives up a silent response: %j',
    async (body) => {
      const { key } = await rig.tenant()
      const responded = Promise.withResolvers<void>()
      rig.upstreams[0]?.answerWith(async (response) => {
        await responded.promise
        sendJson(response, chatAnswer())
      })
      // In a process that has just started, up to 15 seconds less.
      hurry(110_000, 105_000, 100_000)
      const response = await chat(key, body, { headers: { 'x-reelgate-front-door': 'a secret' } })
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([504, 'false'])
      responded.resolve()
      await settled(10_000)
    },
  )
})

describe('the process of the relay server', () => {
  let child: ChildProcess
  let port: number
  const log: string[] = []

  beforeAll(async () => {
    port = await findFreePort()
    child = spawn(process.execPath, [join(REPOSITORY, 'lambdas/relay-server/main.ts')], {
      env: { ...process.env, AWS_LAMBDA_HTTP_ENDPOINT: `127.0.0.1:${port}`, LOG_LEVEL: 'INFO' },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    keepChildOutput(child)
    createInterface({ input: child.stdout ?? process.stdin }).on('line', (line) => log.push(line))
    await eventually(
      async () => log,
      (lines) => lines.some((line) => line.includes('relay server listens')),
    )
  })
  afterAll(() => void child.kill('SIGKILL'))

  async function openStreams(count: number) {
    const tenant = await rig.tenant('1000')
    const upstreams = beginStreams()
    const responses = await Promise.all(
      Array.from({ length: count }, () => chat(tenant.key, { stream: true }, { port })),
    )
    const readers = responses.map(({ body }) => body?.getReader())
    await Promise.all(readers.map((reader) => reader?.read()))
    expect(Number((await rig.balance(tenant.id)).held)).toBeGreaterThan(0)
    return { ...tenant, upstreams, readers, count }
  }

  /** Reconcile, seventeen minutes from now. */
  async function reconcileLater(): Promise<void> {
    const { openRelayContext } = await import('#lambdas/relay/relay-context.ts')
    await reconcileRequests(rig.table, await openRelayContext().currentCatalogue.read(), { isLast: true })
  }

  /** A hold names some of its requests; one release stands for the others. */
  async function expectGivenBack({ id, count }: Awaited<ReturnType<typeof openStreams>>): Promise<void> {
    expect(await rig.balance(id)).toMatchObject({ available: '1000', held: '0', spent: '0' })
    const kinds = (await rig.rows(id)).map(({ kind }) => kind).filter((kind) => kind !== 'reserve')
    expect(new Set(kinds)).toEqual(new Set(['release']))
    expect(kinds.length).toBeLessThanOrEqual(count)
    expect(await auditTenant(rig.table, id)).toEqual([])
  }

  it('that stands still until its requests are given back bills none of them when it goes on', async () => {
    const streams = await openStreams(4)
    child.kill('SIGSTOP')
    await reconcileLater()
    await expectGivenBack(streams)
    for (const upstream of streams.upstreams) {
      upstream.end('data: [DONE]\n\n')
    }
    const before = log.length
    child.kill('SIGCONT')
    await Promise.all(streams.readers.map((reader) => reader?.cancel()))
    await eventually(
      async () => log.slice(before).filter((line) => line.includes('"message":"request"')),
      (lines) => lines.length === 4,
    )
    await expectGivenBack(streams)
  })

  it('that dies with many streams leaves reservations, all of which Reconcile gives back', async () => {
    const streams = await openStreams(40)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect(Number((await rig.balance(streams.id)).held)).toBeGreaterThan(0)
    await reconcileLater()
    await expectGivenBack(streams)
  })
})
