import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { NO_SNIFFING } from '#core/http.ts'
import { BAD_REQUEST, EXPECTATION_FAILED, sendGatewayError } from './gateway-error.ts'
import { OpenResponses } from './open-responses.ts'
import { closeStalledConnections } from './stalled-connections.ts'

/** An HTTP server that listens. */
export type HttpServer = {
  readonly port: number
  /** Requests in flight may finish for two seconds; idle connections end now. */
  close(): Promise<void>
  /** Ends every connection, whatever is in flight. */
  closeAllConnections(): void
}

/** Where a server listens; as a number, the port on loopback. 0 picks a free one. */
export type ListenAt = { readonly host: string; readonly port: number }

/** A client that reads nothing of a response for this long is dropped; the same as API Gateway's idle limit. */
const STALLED_MILLISECONDS = 300_000

/**
 * Bytes that wait in a connection before its sender is told to wait. Node's default is four times as much, which a thousand clients that
 * do not read would hold each.
 */
const CONNECTION_BYTES = 16 * 1024

/** Node itself would refuse a request without a host with an empty response. */
const OPTIONS = { keepAliveTimeout: 65_000, requireHostHeader: false, highWaterMark: CONNECTION_BYTES }

/**
 * Listens on a port. Malformed requests are refused like by API Gateway, under a new id. The listener gets only the
 * path, even of an absolute target, and one request at a time from each connection.
 * @throws if the port is in use.
 */
export async function listen(
  listener: RequestListener,
  at: ListenAt | number,
  stalledMilliseconds = STALLED_MILLISECONDS,
): Promise<HttpServer> {
  const open = new OpenResponses()
  const serve: RequestListener = (request, response) => {
    open.add(request.socket, response, () => {
      const hosts = request.headersDistinct.host?.length ?? 0
      if (hosts > 1 || (request.httpVersion === '1.1' && hosts === 0)) {
        sendGatewayError(response, randomUUID(), BAD_REQUEST)
        return
      }
      toPath(request)
      for (const [name, value] of Object.entries(NO_SNIFFING)) {
        response.setHeader(name, value)
      }
      listener(request, response)
    })
  }
  const server = createServer(OPTIONS, serve)
  // A client that waits for it sends its body when somebody reads it, and none after a refusal.
  server.on('checkContinue', (request, response) => {
    request.once('resume', () => {
      if (!response.headersSent) {
        response.writeContinue()
      }
    })
    serve(request, response)
  })
  const stopWatching = closeStalledConnections(server, stalledMilliseconds)
  server.on('clientError', (error, socket) => open.refuse(socket, error))
  server.on('checkExpectation', (request, response) => {
    open.add(request.socket, response, () => sendGatewayError(response, randomUUID(), EXPECTATION_FAILED))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const { host, port } = typeof at === 'number' ? { host: '127.0.0.1', port: at } : at
    server.listen(port, host, () => resolve())
  })
  return {
    port: portOf(server),
    close: async () => {
      await close(server)
      stopWatching()
    },
    closeAllConnections: () => server.closeAllConnections(),
  }
}

const ABSOLUTE_TARGET = /^https?:\/\/([^/?#]*)(.*)$/i

/** Leaves path and query in the url. The host of an absolute target takes the place of the header (RFC 9112, 3.2.2). */
function toPath(request: IncomingMessage): void {
  const [, host, path = ''] = ABSOLUTE_TARGET.exec(request.url ?? '/') ?? []
  if (host !== undefined) {
    request.headers.host = host
    request.url = path.startsWith('/') ? path : `/${path}`
  }
}

function portOf(server: Server): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Requests in flight may finish; idle connections end now. */
async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), CLOSE_MILLISECONDS)
  await closed
  clearTimeout(force)
}

/** How long a request in flight may delay a shutdown. */
const CLOSE_MILLISECONDS = 2_000
