import type { IncomingHttpHeaders } from 'node:http'
import { afterEach, describe, expect, it } from '@jest/globals'
import { CALLBACK_RESPONSE_BYTES_MAX, type CallbackCommand, sendCallback } from '#upstream/send-callback.ts'
import { fakeNetwork, type Loopback, listenHttp, listenTcp } from '../platform/http/loopback.ts'
import { VECTOR_ALLOWLIST as allowlist, lookUpAnswers, vectorsOf } from './guard/ssrf-vectors.ts'

const PUBLIC_ADDRESS = '93.184.215.14'

const servers: Loopback[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

function stopLater(server: Loopback): Loopback {
  servers.push(server)
  return server
}

function callbackTo(server: Loopback, more: Partial<CallbackCommand> = {}): CallbackCommand {
  return {
    url: `${server.origin}/cb?token=secret`,
    allowlist: [server.origin],
    body: '{"id":"job"}',
    headers: {},
    ...more,
  }
}

describe('sendCallback and the url vectors', () => {
  it.each(vectorsOf('url').filter(({ allow }) => !allow))('asks no name for $id: $why', async ({ url }) => {
    const network = fakeNetwork([[PUBLIC_ADDRESS]], 1)
    expect(await sendCallback({ url, allowlist, body: '', headers: {}, ...network })).toMatchObject({
      outcome: 'failed',
    })
    expect([network.resolved, network.dialled]).toStrictEqual([[], []])
  })

  it.each(vectorsOf('url').filter(({ allow }) => allow))('delivers $id: $why', async ({ url }) => {
    const urls: (string | undefined)[] = []
    const server = stopLater(
      await listenHttp((request, response) => {
        urls.push(request.url)
        response.end()
      }),
    )
    const network = fakeNetwork([[PUBLIC_ADDRESS]], server.port, PUBLIC_ADDRESS)
    expect(await sendCallback({ url, allowlist, body: '', headers: {}, ...network })).toStrictEqual({
      outcome: 'delivered',
      status: 200,
    })
    const { pathname, search } = new URL(url)
    expect(urls).toStrictEqual([pathname + search])
  })

  it.each(vectorsOf('connect'))('connects for $id as listed: $why', async ({ url, dns, allow }) => {
    let requests = 0
    const server = stopLater(
      await listenHttp((_request, response) => {
        requests += 1
        response.end()
      }),
    )
    const answers = lookUpAnswers({ dns })
    // A name that answers differently the second time stands for a connection that ends where nobody checked.
    const isRebinding = answers.length > 1
    const network = fakeNetwork(answers, server.port, isRebinding ? answers.at(-1)?.[0] : answers[0]?.[0])
    const delivery = await sendCallback({ url, allowlist, body: '{}', headers: {}, ...network })
    expect(delivery.outcome).toBe(allow ? 'delivered' : 'failed')
    expect(requests).toBe(allow ? 1 : 0)
    expect(network.resolved).toHaveLength(1)
    expect(network.dialled.map(({ addresses }) => addresses.map(({ address }) => address))).toStrictEqual(
      allow || isRebinding ? [answers[0]] : [],
    )
  })

  it.each(vectorsOf('redirect'))('does not follow $id: $why', async ({ url, status, location }) => {
    const server = stopLater(await listenHttp((_request, response) => response.writeHead(status, { location }).end()))
    const network = fakeNetwork([[PUBLIC_ADDRESS]], server.port, PUBLIC_ADDRESS)
    expect(await sendCallback({ url, allowlist, body: '{}', headers: {}, ...network })).toStrictEqual({
      outcome: 'failed',
      status,
      reason: 'redirects are not followed',
    })
    expect(server.sockets).toHaveLength(1)
    expect(network.resolved).toHaveLength(1)
  })
})

describe('sendCallback', () => {
  it('posts exactly the signed bytes and our headers, once', async () => {
    const requests: { method: string | undefined; headers: IncomingHttpHeaders; body: string }[] = []
    const server = stopLater(
      await listenHttp(async (request, response) => {
        const body = (await request.toArray()).join('')
        requests.push({ method: request.method, headers: request.headers, body })
        response.writeHead(204).end()
      }),
    )
    const headers = { 'webhook-id': 'msg_job', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' }
    const body = '{"id":"job","status":"failed","error":"ü"}'
    expect(await sendCallback(callbackTo(server, { headers, body }))).toStrictEqual({
      outcome: 'delivered',
      status: 204,
    })
    const ours = { 'content-type': 'application/json', 'user-agent': 'Reelgate', ...headers }
    const transport = { host: new URL(server.origin).host, 'content-length': '43', connection: 'close' }
    expect(requests).toStrictEqual([{ method: 'POST', headers: { ...ours, ...transport }, body }])
  })

  it('checks the allowlist again', async () => {
    const server = stopLater(await listenHttp((_request, response) => response.end()))
    const delivery = await sendCallback(callbackTo(server, { allowlist: [] }))
    expect(delivery).toMatchObject({ outcome: 'failed', status: undefined })
    expect(server.sockets).toHaveLength(0)
  })

  it.each([400, 401, 404, 410, 429, 500, 503])('counts %d as failed and does not try again', async (status) => {
    const server = stopLater(await listenHttp((_request, response) => response.writeHead(status).end('no')))
    const expected = { outcome: 'failed', status, reason: `the receiver said ${status}` }
    expect(await sendCallback(callbackTo(server))).toStrictEqual(expected)
    expect(server.sockets).toHaveLength(1)
  })

  it('fails when nobody listens, without naming the url', async () => {
    const server = await listenHttp(() => {})
    await server.stop()
    const expected = { outcome: 'failed', status: undefined, reason: 'the network said ECONNREFUSED' }
    expect(await sendCallback(callbackTo(server))).toStrictEqual(expected)
  })

  it('fails when the receiver hangs', async () => {
    const server = stopLater(await listenTcp((socket) => socket.resume()))
    const delivery = await sendCallback(callbackTo(server, { totalMilliseconds: 50 }))
    expect(delivery).toMatchObject({ outcome: 'failed', status: undefined })
  })

  it('fails when the receiver breaks the connection or answers something else than HTTP', async () => {
    const breaking = stopLater(await listenTcp((socket) => socket.once('data', () => socket.resetAndDestroy())))
    expect(await sendCallback(callbackTo(breaking))).toMatchObject({ outcome: 'failed', status: undefined })
    const babbling = stopLater(await listenTcp((socket) => socket.end('220 mail.example ready\r\n')))
    expect(await sendCallback(callbackTo(babbling))).toMatchObject({ outcome: 'failed', status: undefined })
  })

  it('fails when the headers of the answer never end', async () => {
    const flood = Buffer.from(`x-flood: ${'a'.repeat(8_000)}\r\n`)
    const server = stopLater(
      await listenTcp((socket) => {
        socket.write('HTTP/1.1 200 OK\r\n')
        const pour = () => socket.writable && socket.write(flood, pour)
        pour()
      }),
    )
    expect(await sendCallback(callbackTo(server))).toMatchObject({ outcome: 'failed', status: undefined })
  })

  it('is delivered with the status line, whatever becomes of the rest of the answer', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc'
    const hanging = stopLater(await listenTcp((socket) => socket.once('data', () => socket.write(head))))
    const hangingDelivery = sendCallback(callbackTo(hanging, { totalMilliseconds: 100 }))
    expect(await hangingDelivery).toStrictEqual({ outcome: 'delivered', status: 200 })
    const breaking = stopLater(await listenTcp((socket) => socket.once('data', () => socket.end(head))))
    expect(await sendCallback(callbackTo(breaking))).toStrictEqual({ outcome: 'delivered', status: 200 })
  })

  it('cuts an endless answer after a few kilobytes', async () => {
    const chunk = Buffer.alloc(CALLBACK_RESPONSE_BYTES_MAX, 0x61)
    const server = stopLater(
      await listenHttp((_request, response) => {
        const pour = () => response.writable && response.write(chunk, pour)
        pour()
      }),
    )
    expect(await sendCallback(callbackTo(server))).toStrictEqual({ outcome: 'delivered', status: 200 })
  })

  it('is not moved by a resolver that throws', async () => {
    const resolve = async () => {
      throw new Error('https://hooks.example.com/cb?token=secret')
    }
    const url = 'https://hooks.example.com/cb?token=secret'
    const expected = { outcome: 'failed', status: undefined, reason: 'the request failed' }
    expect(await sendCallback({ url, allowlist, body: '', headers: {}, resolve })).toStrictEqual(expected)
  })

  it('is not moved by headers that cannot be sent', async () => {
    const server = stopLater(await listenHttp((_request, response) => response.end()))
    const delivery = await sendCallback(callbackTo(server, { headers: { 'webhook-id': 'a\r\nb: c' } }))
    expect(delivery).toMatchObject({ outcome: 'failed', status: undefined })
  })
})
