import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeInStages } from '#adapters/http-server/close-in-stages.ts'
import { sendGatewayError } from '#adapters/http-server/gateway-error.ts'
import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { readBody, refusalOf } from '#adapters/http-server/read-body.ts'

const MIB = 1024 * 1024
const REFUSED_BYTES = 10 * MIB
const SENT_BYTES = 24 * MIB

let server: HttpServer
let bounds: { bytesMax: number; milliseconds: number } | undefined
beforeAll(async () => {
  server = await listen((incoming, response) => {
    readBody(incoming, REFUSED_BYTES).then(
      () => response.end('read'),
      (error: unknown) => {
        if (bounds === undefined) {
          sendGatewayError(response, 'request-1', refusalOf(error))
        } else {
          closeInStages(response, bounds)
          response.writeHead(413, { 'content-length': 0 }).end()
        }
      },
    )
  }, 0)
})
afterAll(() => server.close())

/** The end of a connection, broken or not. */
const closeOf = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

/** Writes everything before it reads anything of the response, as blocking clients do. */
async function writeAsItGoes(framing: 'length' | 'chunks', bytes = SENT_BYTES) {
  const socket = connect(server.port, '127.0.0.1').setEncoding('utf8')
  const closed = closeOf(socket)
  let error: string | undefined
  socket.on('error', ({ message }) => {
    error = message
  })
  socket.pause()
  const head = framing === 'length' ? `content-length: ${bytes}` : 'transfer-encoding: chunked'
  socket.write(`POST / HTTP/1.1\r\nhost: local\r\n${head}\r\n\r\n`)
  const part = Buffer.alloc(MIB, ' ')
  for (let sent = 0; sent < bytes && error === undefined; sent += MIB) {
    const piece = framing === 'length' ? part : Buffer.concat([Buffer.from('100000\r\n'), part, Buffer.from('\r\n')])
    await new Promise((resolve) => socket.write(piece, resolve))
  }
  let text = ''
  socket.on('data', (data) => {
    text += data
  })
  socket.resume()
  await closed
  return { status: text.slice(0, 12), error }
}

/** Node's own client. */
function sendByNode(): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request({ port: server.port, method: 'POST', agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
    })
    sending.on('error', reject)
    for (let sent = 0; sent < SENT_BYTES; sent += MIB) {
      sending.write(Buffer.alloc(MIB, ' '))
    }
    sending.end()
  })
}

describe('a refusal of a body that is still being sent', () => {
  it.each(['length', 'chunks'] as const)('reaches a client that writes as it goes (%s), each time', async (framing) => {
    for (let round = 0; round < 10; round += 1) {
      expect(await writeAsItGoes(framing)).toEqual({ status: 'HTTP/1.1 413', error: undefined })
    }
  })

  it('reaches the client of Node, each time', async () => {
    for (let round = 0; round < 10; round += 1) {
      expect(await sendByNode()).toBe(413)
    }
  })

  it.each([
    ['bytes', { bytesMax: MIB, milliseconds: 3_600_000 }],
    ['time', { bytesMax: 1024 * MIB, milliseconds: 50 }],
  ])('is followed by no more than the bound of %s', async (_, given) => {
    bounds = given
    const began = performance.now()
    const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    socket.write(`POST / HTTP/1.1\r\nhost: local\r\ncontent-length: ${1024 * MIB}\r\n\r\n`)
    const closed = closeOf(socket)
    const drip = setInterval(() => socket.write(Buffer.alloc(64 * 1024)), 1)
    await closed
    clearInterval(drip)
    bounds = undefined
    // Far below the bound of time by default, and far above this one, whatever else the machine does.
    expect(performance.now() - began).toBeLessThan(15_000)
    expect(socket.bytesRead).toBeGreaterThan(0)
    expect(socket.bytesWritten).toBeLessThan(512 * MIB)
  })
})
