import { type ServerResponse, STATUS_CODES } from 'node:http'
import { Socket } from 'node:net'
import { type GatewayError, gatewayErrorBody, INTERNAL_ERROR, REQUEST_REFUSED } from '#core/api/api-gateway.ts'
import { PLATFORM_CROSS_ORIGIN } from '#core/api/cross-origin.ts'
import { NO_SNIFFING } from '#core/http.ts'

/** How much of a body that nobody wants is read before its connection is cut. */
type DiscardBounds = { readonly bytesMax: number; readonly milliseconds: number }

/** More than clients send that read no response before they have written everything; as long as nginx lingers (`lingering_time`). */
const DISCARD_BOUNDS: DiscardBounds = { bytesMax: 64 * 1024 * 1024, milliseconds: 30_000 }

/** The interval of checks of the bounds. */
const LOOK_MILLISECONDS = 50

/**
 * To be called before a response to a request whose body is not read (to its end). The connection ends after the response, in
 * stages: its sending side first, and the rest of the body is read and thrown away. A connection that is closed with unread bytes is
 * reset, and a client that writes as it goes would lose the response. Does nothing when the request is complete.
 */
export function closeInStages(response: ServerResponse, { bytesMax, milliseconds } = DISCARD_BOUNDS): void {
  const { req: request } = response
  if (request.complete) {
    return
  }
  const { socket } = request
  response.shouldKeepAlive = false
  // Node calls this after the last byte of the last response of a connection.
  socket.destroySoon = () => {
    const closeNow = () => Socket.prototype.destroySoon.call(socket)
    if (request.readableEnded) {
      closeNow()
      return
    }
    const bytesLast = socket.bytesRead + bytesMax
    const endsAt = performance.now() + milliseconds
    socket.end()
    // Counted at the socket, because Node drops the body of a request that nobody has read from without an event.
    const timer = setInterval(() => {
      if (socket.bytesRead > bytesLast || performance.now() > endsAt) {
        socket.destroy()
      }
    }, LOOK_MILLISECONDS).unref()
    socket.once('close', () => clearInterval(timer))
    request.once('end', closeNow)
    request.resume()
  }
}

/** The rest of a request did not arrive in time. */
export const REQUEST_TIMEOUT: GatewayError = { ...REQUEST_REFUSED, status: 408 }

/** The rest of a body came too slowly while others waited for its memory. */
export const BODY_TOO_SLOW: GatewayError = {
  ...REQUEST_TIMEOUT,
  message: 'the body came too slowly while others waited to be read: send the request again',
}

/** A body was not whole in its time. */
export const BODY_TOO_LATE: GatewayError = {
  ...REQUEST_TIMEOUT,
  message: 'the body took too long: send the request again',
}

/** More than `max` requests are queued on one connection. */
export function tooManyRequestsAtOnce(max: number): GatewayError {
  const message = `too many requests wait on one connection: at most ${max} may; read responses, or use more connections`
  return { status: 429, message, code: 'rate_limit_exceeded' }
}

/** An `Expect` other than `100-continue` (RFC 9110, 10.1.1). */
export const EXPECTATION_FAILED: GatewayError = { ...REQUEST_REFUSED, status: 417 }

/** The `Host` of a request names another machine (RFC 9110, 15.5.20), as after DNS rebinding. */
export const MISDIRECTED: GatewayError = {
  ...REQUEST_REFUSED,
  status: 421,
  message: 'this host answers to names of this machine only: use localhost, or start it with --allowed-host NAME',
}

/** More headers than Node accepts. */
export const HEADERS_TOO_LARGE: GatewayError = { ...REQUEST_REFUSED, status: 431 }

/** A function returned a malformed response. */
export const BAD_RESPONSE: GatewayError = { ...INTERNAL_ERROR, status: 502 }

/** The process ends. Nothing was done for the request, or nothing of its response was sent. */
export const SHUTTING_DOWN: GatewayError = {
  status: 503,
  message: 'the server is shutting down: send the request again',
  code: 'service_unavailable',
}

/** Sends an error in the OpenAI shape with the request's id. The rest of a refused body is read and thrown away. */
export function sendGatewayError(response: ServerResponse, requestId: string, error: GatewayError): void {
  const { headers, body } = responseOf(requestId, error)
  closeInStages(response)
  response.writeHead(error.status, headers).end(body)
}

/** The same error as raw bytes, for a request that Node cannot parse. */
export function gatewayErrorBytes(requestId: string, error: GatewayError): string {
  const { headers, body } = responseOf(requestId, error)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...lines, '', body].join('\r\n')
}

function responseOf(requestId: string, error: GatewayError) {
  const body = gatewayErrorBody(error)
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    connection: 'close',
    ...NO_SNIFFING,
    ...(process.env.CORS_ORIGINS ? PLATFORM_CROSS_ORIGIN : {}),
  }
  return { headers, body }
}
