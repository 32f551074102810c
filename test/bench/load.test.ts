import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import { type LoadOrder, runLoad } from '../../bench/relay/load.ts'
import { whenTestEnds } from '../runner/when-test-ends.ts'

async function orderFor(listener: RequestListener): Promise<LoadOrder> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  whenTestEnds(() => {
    server.close()
    server.closeAllConnections()
  })
  const address = server.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
  const headers = { authorization: 'Bearer key' }
  return { url, headers, body: '{"model":"m"}', end: 'hello', connections: 3, until: { requests: 30 } }
}

describe('runLoad', () => {
  it('sends its requests, each with its headers and body, over its connections', async () => {
    const seen: string[] = []
    const ports = new Set<number | undefined>()
    const order = await orderFor(async (request, response) => {
      ports.add(request.socket.remotePort)
      const body = Buffer.concat(await request.toArray())
      seen.push(`${request.method} ${request.headers.authorization} ${body}`)
      response.end('hello')
    })
    const { requests, errors } = await runLoad(order)
    expect(new Set(seen)).toEqual(new Set(['POST Bearer key {"model":"m"}']))
    expect([seen.length, requests, ports.size, errors]).toEqual([30, 30, 3, 0])
  })

  it('measures a stream to its first byte and to its end', async () => {
    const order = await orderFor(async (_request, response) => {
      response.write('first')
      await delay(200)
      response.end('hello')
    })
    const { firstByte, total } = await runLoad({ ...order, until: { requests: 3 } })
    // A timer may fire a moment early, and the first byte may arrive late.
    expect(total.p50 - firstByte.p50).toBeGreaterThan(100)
  })

  it('counts other statuses and other ends as errors', async () => {
    let count = 0
    const order = await orderFor((_request, response) => {
      count += 1
      response.writeHead(count % 3 === 0 ? 503 : 200).end(count % 3 === 1 ? 'cut' : 'hello')
    })
    expect((await runLoad(order)).errors).toBe(20)
  })

  it('rejects without a single correct response', async () => {
    const order = await orderFor((_request, response) => response.writeHead(503).end())
    await expect(runLoad(order)).rejects.toThrow('no correct response')
  })
})
