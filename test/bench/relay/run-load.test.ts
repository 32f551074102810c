import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { type LoadOrder, runLoad } from '../../../bench/relay/run-load.ts'

let server: Server | undefined
afterEach(() => {
  server?.close()
  server?.closeAllConnections()
})

async function orderFor(listener: RequestListener, rest: Pick<LoadOrder, 'plan'> & Partial<LoadOrder>) {
  server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  return {
    origin: `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    headers: { authorization: 'Bearer key' },
    body: '{"model":"m"}',
    answerBytes: 5,
    warmUpSeconds: 0.05,
    measuredSeconds: 0.2,
    serverPid: process.pid,
    ...rest,
  }
}

describe('a load', () => {
  it('by count sends so many requests, each with its headers and body, over so many connections', async () => {
    const seen: string[] = []
    const ports = new Set<number | undefined>()
    const order = await orderFor(
      (request, response) => {
        ports.add(request.socket.remotePort)
        request.on('data', (body) => seen.push(`${request.method} ${request.headers.authorization} ${body}`))
        request.on('end', () => response.end('hello'))
      },
      { plan: { kind: 'counted', connections: 3, requests: 100 } },
    )
    const figures = await runLoad(order)
    expect(new Set(seen)).toEqual(new Set(['POST Bearer key {"model":"m"}']))
    expect([seen.length, figures.requests, ports.size, figures.failures]).toEqual([100, 100, 3, {}])
  })

  it('in a closed loop keeps one request on each connection, and counts by the length of the span', async () => {
    const rounds: number[][] = []
    let waiting: { port: number | undefined; answer: () => void }[] = []
    const order = await orderFor(
      (request, response) => {
        waiting.push({ port: request.socket.remotePort, answer: () => response.end('hello') })
        if (waiting.length === 4) {
          const round = waiting
          waiting = []
          rounds.push(round.map(({ port = 0 }) => port))
          for (const { answer } of round) {
            answer()
          }
        }
      },
      { plan: { kind: 'closed', connections: 4 } },
    )
    const { requests, perSecond } = await runLoad(order)
    expect(new Set(rounds.map((ports) => new Set(ports).size))).toEqual(new Set([4]))
    expect(perSecond).toBeCloseTo(requests / 0.2, 6)
  })

  it('in an open loop counts a stall against every request that fell due meanwhile', async () => {
    let stalled: (() => void)[] | undefined = []
    const order = await orderFor(
      (_, response) => {
        if (stalled === undefined) {
          response.end('hello')
        } else {
          stalled.push(() => response.end('hello'))
        }
      },
      { plan: { kind: 'open', connections: 2, perSecond: 200 } },
    )
    // All of the measured span passes before the first answer: 40 requests, of which two could be sent.
    setTimeout(() => {
      const answers = stalled ?? []
      stalled = undefined
      for (const answer of answers) {
        answer()
      }
    }, 300)
    const { requests, perSecond, total } = await runLoad(order)
    expect(Math.abs(requests - 40)).toBeLessThanOrEqual(1)
    expect(perSecond).toBeCloseTo(requests / 0.2, 6)
    expect(total.p50).toBeGreaterThan(100)
    expect(total.p99).toBeGreaterThan(200)
  })

  it('goes on after a connection broke, and says so', async () => {
    let answered = 0
    const order = await orderFor(
      (request, response) => {
        answered += 1
        if (answered === 3) {
          request.socket.destroy()
        } else {
          response.end('hello')
        }
      },
      { plan: { kind: 'counted', connections: 1, requests: 10 } },
    )
    const { requests, failures } = await runLoad(order)
    expect([requests, failures]).toEqual([9, { 'the connection closed': 1 }])
  })
})
