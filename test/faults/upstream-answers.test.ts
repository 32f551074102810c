import { afterEach, describe, expect, it } from 'vitest'
import type { WholeLimits } from '#adapters/http/exchange-whole.ts'
import {
  CANCEL_LIMITS,
  createUpstreamHttp,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type UpstreamHttp,
} from '#adapters/providers/video/upstream-http.ts'
import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'
import { type Misbehaviour, misbehave } from '../adapters/outbound/misbehaving-servers.ts'
import { hurried } from './hurried-time.ts'

/** So fast the shipped limits pass: 25 s in 500 ms. */
const HURRY = 50

const stops: (() => Promise<void> | void)[] = []

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()))
})

async function serve(starting: Promise<Loopback>): Promise<Loopback> {
  const server = await starting
  stops.push(() => server.stop())
  return server
}

function openHttp(): UpstreamHttp {
  const http = createUpstreamHttp()
  stops.push(() => http.close())
  return http
}

const CALLS: readonly (readonly [string, WholeLimits, number])[] = [
  ['submit', SUBMIT_LIMITS, 25],
  ['poll', POLL_LIMITS, 15],
  ['cancel', CANCEL_LIMITS, 15],
]

const send = (http: UpstreamHttp, { origin }: Pick<Loopback, 'origin'>, limits: WholeLimits) =>
  http.send({ limits, method: 'POST', url: `${origin}/`, headers: {}, body: '{}' })

describe.each(CALLS)('the reply to a %s', (_name, limits, totalSeconds) => {
  it('of ten megabytes of JSON is aborted at its limit', async () => {
    const text = JSON.stringify({ id: 'task', padding: 'x'.repeat(10_000_000) })
    const server = await serve(
      listenHttp((_request, response) => {
        // The server never sends the rest.
        response.writeHead(200, { 'content-length': text.length }).write(text.slice(0, limits.bytesMax + 1))
      }),
    )
    expect(await send(openHttp(), server, limits)).toStrictEqual({ kind: 'no_response', reason: 'answer too large' })
    await server.allClosed()
  })

  it('of exactly the limit is read completely', async () => {
    const text = JSON.stringify('x'.repeat(limits.bytesMax - 2))
    const server = await serve(listenHttp((_request, response) => response.end(text)))
    const answer = await send(openHttp(), server, limits)
    expect(answer.kind === 'response' && answer.text.length).toBe(limits.bytesMax)
  })

  it.each<Misbehaviour>(['a body without end', 'headers without end', 'a change of protocol'])(
    'is aborted at once if it is %s',
    async (misbehaviour) => {
      const server = await serve(misbehave(misbehaviour))
      expect(await send(openHttp(), server, limits)).toMatchObject({ kind: 'no_response' })
      await server.allClosed()
    },
  )

  it('is aborted at the deadline of the call if it trickles', async () => {
    const attempt = async (misbehaviour: Misbehaviour) => {
      const server = await serve(misbehave(misbehaviour))
      const before = performance.now()
      const answer = await send(openHttp(), server, limits)
      await server.allClosed()
      const seconds = (performance.now() - before) / 1000
      return [answer, seconds >= totalSeconds * 0.98 && seconds < totalSeconds * 5]
    }
    const slow: Misbehaviour[] = ['silence', 'dripping headers', 'interim answers without end', 'a dripping body']
    const outcomes = await hurried(HURRY, () => Promise.all(slow.map(attempt)))
    expect(outcomes).toStrictEqual(slow.map(() => [{ kind: 'no_response', reason: 'timeout' }, true]))
  })
})

describe('a kept-alive connection for polls', () => {
  it('is not reused after an aborted reply', async () => {
    let calls = 0
    const server = await serve(
      listenHttp((_request, response) => {
        calls += 1
        response.end(calls === 1 ? 'x'.repeat(2 * POLL_LIMITS.bytesMax) : '{}')
      }),
    )
    const http = openHttp()
    expect(await send(http, server, POLL_LIMITS)).toMatchObject({ kind: 'no_response' })
    expect(await send(http, server, POLL_LIMITS)).toMatchObject({ kind: 'response', text: '{}' })
    expect(server.sockets).toHaveLength(2)
  })
})
