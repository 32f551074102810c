import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { openDownload } from '#adapters/outbound/download-video.ts'
import { type OutboundNetwork, systemNetwork } from '#adapters/outbound/outbound-network.ts'
import { sendCallback } from '#adapters/outbound/send-callback.ts'
import { MAX_BYTES } from './downloading.ts'
import { type Loopback, listenHttp, listenTcp } from './loopback.ts'

const servers: Loopback[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

function stopLater(server: Loopback): Loopback {
  servers.push(server)
  return server
}

/** The real sockets behind a resolver that answers `address` once and must never be asked again. */
function answeringOnce(address: string): OutboundNetwork & { asked: string[] } {
  const asked: string[] = []
  const resolve = async (hostname: string) => {
    asked.push(hostname)
    if (asked.length > 1) {
      throw new Error('the name was looked up a second time')
    }
    return [{ address, family: 4 }]
  }
  return { asked, resolve, dial: systemNetwork.dial }
}

/** No resolver knows a name below `.invalid` (RFC 6761): a socket that looked it up by itself would not get anywhere. */
const NAME = 'rebinding.invalid'

describe('a name whose answer changes between check and connection', () => {
  it('is called back at the address that was checked', async () => {
    const server = stopLater(await listenHttp((_request, response) => response.end()))
    const origin = `http://${NAME}:${server.port}`
    const network = answeringOnce('127.0.0.1')
    const command = { url: `${origin}/cb`, allowlist: [origin], body: '{}', headers: {}, ...network }
    expect(await sendCallback(command)).toStrictEqual({ outcome: 'delivered', status: 200 })
    expect(network.asked).toStrictEqual([NAME])
  })

  it('is downloaded from at the address that was checked', async () => {
    const server = stopLater(await listenHttp((request, response) => response.end(request.headers.host)))
    const origin = `http://${NAME}:${server.port}`
    const network = answeringOnce('127.0.0.1')
    const { body } = await openDownload({
      url: `${origin}/v`,
      trustedOrigins: [origin],
      maxBytes: MAX_BYTES,
      ...network,
    })
    expect(Buffer.concat(await body.toArray()).toString()).toBe(`${NAME}:${server.port}`)
    expect(network.asked).toStrictEqual([NAME])
  })

  it('is not asked for again when nobody answers at the checked address', async () => {
    const gone = await listenHttp(() => {})
    await gone.stop()
    const origin = `http://${NAME}:${gone.port}`
    const network = answeringOnce('127.0.0.1')
    const command = { url: `${origin}/cb`, allowlist: [origin], body: '{}', headers: {}, ...network }
    expect(await sendCallback(command)).toMatchObject({ outcome: 'failed', reason: 'the network said ECONNREFUSED' })
    expect(network.asked).toStrictEqual([NAME])
  })
})

describe('the sockets of the system', () => {
  it.each([true, false])('go to the address they are given, whatever the name is (TLS: %j)', async (isTls) => {
    const heard: string[] = []
    const server = stopLater(
      await listenTcp((socket) =>
        socket.once('data', (bytes) => {
          heard.push(bytes.toString('latin1'))
          socket.end()
        }),
      ),
    )
    const addresses = [{ address: '127.0.0.1', family: 4 }]
    const socket = systemNetwork.dial({ hostname: NAME, port: server.port, isTls, addresses })
    // Over TLS the far end is no such server; what counts is that it was reached, and asked for by name.
    socket.on('error', () => {})
    socket.on('connect', () => socket.write(NAME))
    // Not `once` of node:events, which fails with the socket.
    await new Promise((resolve) => socket.once('close', resolve))
    expect(heard.join('')).toContain(NAME)
  })

  it('try the addresses they are given one after the other, and no other', async () => {
    const server = stopLater(await listenTcp((socket) => socket.end()))
    const addresses = ['127.0.0.2', '127.0.0.1'].map((address) => ({ address, family: 4 }))
    const socket = systemNetwork.dial({ hostname: NAME, port: server.port, isTls: false, addresses })
    await once(socket, 'connect')
    expect(socket.remoteAddress).toBe('127.0.0.1')
    socket.destroy()
    expect(server.sockets).toHaveLength(1)
  })
})
