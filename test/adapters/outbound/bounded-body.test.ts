import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type DownloadError,
  DownloadIncompleteError,
  DownloadTooLargeError,
  DownloadTooSlowError,
  DownloadUnavailableError,
} from '#adapters/outbound/download-errors.ts'
import { openDownload } from '#adapters/outbound/download-video.ts'
import { download, failureOf, from } from './downloading.ts'
import { type Loopback, listenHttp, listenTcp } from './loopback.ts'

const servers: Loopback[] = []

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()))
})

function stopLater(server: Loopback): Loopback {
  servers.push(server)
  return server
}

async function serve(listener: RequestListener): Promise<Loopback> {
  return stopLater(await listenHttp(listener))
}

describe('the body of a download', () => {
  it('stops an endless body at the cap', async () => {
    const chunk = Buffer.alloc(64_000)
    const server = await serve((_request, response) => {
      const pour = () => response.writable && response.write(chunk, pour)
      pour()
    })
    const failure = await failureOf(from(server))
    expect(failure).toBeInstanceOf(DownloadTooLargeError)
    expect(failure).toMatchObject({ isRetryable: false })
    await server.allClosed()
  })

  it.each<[string, string, new (message: string) => DownloadError]>([
    [
      'that ends before its announced length',
      'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc',
      DownloadIncompleteError,
    ],
    [
      'whose last chunk is missing',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n',
      DownloadIncompleteError,
    ],
    ['with a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nabc', DownloadUnavailableError],
    [
      'with two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc',
      DownloadUnavailableError,
    ],
    ['that is no HTTP', 'abc\r\n', DownloadUnavailableError],
  ])('fails for an answer %s', async (_name, answer, expected) => {
    const server = stopLater(await listenTcp((socket) => socket.once('data', () => socket.end(answer))))
    const failure = await failureOf(from(server))
    expect(failure).toBeInstanceOf(expected)
    expect(failure).toMatchObject({ isRetryable: true })
  })

  it('fails when the connection is reset half way', async () => {
    const server = stopLater(
      await listenTcp((socket) => {
        socket.once('data', () =>
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabcde', () => socket.resetAndDestroy()),
        )
      }),
    )
    expect(await failureOf(from(server))).toBeInstanceOf(DownloadIncompleteError)
  })

  it('gives no more than the announced length', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 3\r\nconnection: close\r\n\r\nabcdef'
    const server = stopLater(await listenTcp((socket) => socket.once('data', () => socket.end(answer))))
    expect((await download(from(server))).toString()).toBe('abc')
  })

  it('gives up when no bytes come for too long', async () => {
    const server = await serve((_request, response) => response.write('a'))
    const pace = { idleMilliseconds: 30, windowMilliseconds: 60_000, bytesPerSecondMin: 1 }
    expect(await failureOf(from(server, { pace }))).toBeInstanceOf(DownloadTooSlowError)
    await server.allClosed()
  })

  it('gives up when bytes only drip', async () => {
    const server = await serve((_request, response) => {
      const drip = setInterval(() => response.write('a'), 5)
      response.once('close', () => clearInterval(drip))
    })
    const pace = { idleMilliseconds: 5_000, windowMilliseconds: 50, bytesPerSecondMin: 500_000 }
    expect(await failureOf(from(server, { pace }))).toBeInstanceOf(DownloadTooSlowError)
    await server.allClosed()
  })

  it('gives up when bytes only drip after a fast beginning, which makes up for nothing', async () => {
    const server = await serve((_request, response) => {
      response.write(Buffer.alloc(900_000))
      const drip = setInterval(() => response.write('a'), 5)
      // Long after the window in which it fell behind, and long before the average of all falls below the floor.
      const end = setTimeout(() => response.end(), 2_000)
      response.once('close', () => {
        clearInterval(drip)
        clearTimeout(end)
      })
    })
    const pace = { idleMilliseconds: 5_000, windowMilliseconds: 200, bytesPerSecondMin: 50_000 }
    expect(await failureOf(from(server, { pace }))).toBeInstanceOf(DownloadTooSlowError)
    await server.allClosed()
  })

  it('does not blame the upstream for a slow reader', async () => {
    const server = await serve((_request, response) => response.end(Buffer.alloc(900_000)))
    const pace = { idleMilliseconds: 40, windowMilliseconds: 80, bytesPerSecondMin: 500_000 }
    const { body } = await openDownload(from(server, { pace }))
    let received = 0
    for await (const chunk of body) {
      received += Buffer.byteLength(chunk)
      if (received === Buffer.byteLength(chunk)) {
        // The reader itself takes longer than the idle limit and the window.
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
    expect(received).toBe(900_000)
  })

  it('closes the connection when the reader stops', async () => {
    const server = await serve((_request, response) => response.write(Buffer.alloc(10_000)))
    const { body } = await openDownload(from(server))
    await once(body, 'readable')
    // Asks for bytes that never come, so that the stream is waiting when it is destroyed.
    body.read()
    body.destroy()
    await server.allClosed()
  })

  it('stops when it is told to', async () => {
    const server = await serve((_request, response) => response.write('a'))
    const controller = new AbortController()
    const { body } = await openDownload(from(server, { signal: controller.signal }))
    const reading = body.toArray()
    controller.abort()
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
    await server.allClosed()
  })
})
