import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { chatAnswer, sendJson, startRelayRig } from '../engines/relay-rig.ts'
import { BILLED, errorIn, relayedRoute } from '../engines/relayed-samples.ts'
import { useOpened } from '../engines/use-opened.ts'

const realTimer = globalThis.setTimeout
/** Limits of minutes pass so many times as fast; those of the table and of a connection keep their time. */
const FACTOR = 1_000
/** That of the function stays as it is. */
const HURRIED_MILLISECONDS_MAX = 300_000
let hurriedFrom: number
/** Of every timer that was set. */
const delays: number[] = []

const rig = useOpened(() => startRelayRig({ channels: 2, channel: { timeouts: { first_byte_seconds: 280 } } }))

beforeEach(() => {
  hurriedFrom = 200_000
  delays.length = 0
  const hurriedTimer = (callback: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) => {
    delays.push(milliseconds)
    const isHurried = milliseconds > hurriedFrom && milliseconds <= HURRIED_MILLISECONDS_MAX
    return realTimer(callback, isHurried ? milliseconds / FACTOR : milliseconds, ...values)
  }
  Object.assign(globalThis, { setTimeout: hurriedTimer })
})
afterEach(() => {
  Object.assign(globalThis, { setTimeout: realTimer })
})

const CHAT_ROUTE = relayedRoute('create-chat-completion')
/** Each route that waits for its upstream, and a chat whose upstream does not stream. */
const REQUESTS = [
  ...BILLED.map((route) => ({ request: route.operation, route, body: route.body })),
  { request: 'a streamed chat', route: CHAT_ROUTE, body: { ...CHAT_ROUTE.body, stream: true } },
]

/** Begins an answer, goes on with a blank each few milliseconds, and never ends it. */
function trickle(response: ServerResponse, status = 200): Promise<unknown> {
  response.writeHead(status, { 'content-type': 'application/json' }).write('{"id":')
  const drops = setInterval(() => response.write(' '), 5)
  response.once('close', () => clearInterval(drops))
  return once(response, 'close')
}

describe('a slow reply', () => {
  it.each(REQUESTS)('has one deadline for head and body, and becomes a 504: $request', async ({ route, body }) => {
    const { operation } = route
    const { id, key } = await rig.tenant('1')
    const closed: Promise<unknown>[] = []
    const before = rig.upstreams[1]?.calls.length
    rig.upstreams[0]?.answerWith((response) => void closed.push(trickle(response)))
    const { statusCode, headers, text } = await rig.send(body, { operation, key })
    expect(statusCode).toBe(504)
    expect(JSON.parse(text)).toMatchObject(errorIn(route, { code: 'upstream_timeout' }))
    expect(headers).toMatchObject({ 'x-should-retry': 'false' })
    await Promise.all(closed)
    expect(await rig.balance(id)).toStrictEqual({ available: '1', held: '0', spent: '0' })
    expect(rig.upstreams[1]?.calls).toHaveLength(before ?? 0)
  })

  it.each(REQUESTS)('of a refusing upstream becomes a 504 too: $request', async ({ route: { operation }, body }) => {
    rig.upstreams[0]?.answerWith((response) => void trickle(response, 422))
    expect((await rig.send(body, { operation })).statusCode).toBe(504)
  })

  it('has the remaining time of the request after a failed channel', async () => {
    const realNow = performance.now.bind(performance)
    let passed = 0
    performance.now = () => realNow() + passed
    hurriedFrom = 10_000
    rig.upstreams[0]?.answerWith((response) => {
      passed = 270_000
      delays.length = 0
      response.writeHead(500).end()
    })
    rig.upstreams[1]?.answerWith((response) => void trickle(response))
    try {
      expect((await rig.send(CHAT_ROUTE.body)).statusCode).toBe(504)
    } finally {
      performance.now = realNow
    }
    const [wait] = delays.filter((delay) => delay > 10_000 && delay <= 20_000)
    expect(wait).toBeGreaterThan(19_000)
  })
})

describe('a reply that is complete in time', () => {
  it('is not cut off while a slow client reads it', async () => {
    rig.upstreams[0]?.answerWith((response) => sendJson(response, chatAnswer()))
    const read = () => new Promise<void>((resolve) => realTimer(resolve, 400))
    const { statusCode, isCut } = await rig.send(CHAT_ROUTE.body, { client: { highWaterMark: 1, read } })
    expect({ statusCode, isCut }).toStrictEqual({ statusCode: 200, isCut: false })
  })
})
