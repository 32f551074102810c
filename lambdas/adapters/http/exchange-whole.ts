import type { IncomingHttpHeaders } from 'node:http'
import type { AddressedRequest, HttpClient } from './http-client.ts'
import { ResponseBrokenError } from './response-broken-error.ts'
import type { HttpResponse } from './send-once.ts'

/** The limits of an exchange whose response is read whole, and the kind of connection it uses. */
export type WholeLimits = {
  /** Name lookup, TCP and TLS together. */
  readonly connectMilliseconds: number
  /** Until the last byte of the response, a replaced connection included. */
  readonly totalMilliseconds: number
  /** The largest body that is read. */
  readonly bytesMax: number
  /**
   * `own` opens a connection for this request alone, so that a failure tells whether a byte was sent. `pooled` may find that
   * the server has closed the connection, and then sends the request again: only for requests that are safe to repeat.
   */
  readonly connection: 'own' | 'pooled'
}

/** One request whose response is read whole. */
export type WholeRequest = Pick<AddressedRequest, 'method' | 'url' | 'headers' | 'body'> & {
  readonly limits: WholeLimits
}

/** `text` is the whole body decoded as UTF-8, including a byte order mark. */
export type WholeResponse = {
  readonly kind: 'response'
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** The outcome of an exchange. `reason` is an error code or a fixed phrase, and never holds a URL, a key or a body. */
export type WholeOutcome =
  | WholeResponse
  /** No byte of the request was sent: name lookup, refused connection, TLS, connect timeout. */
  | { readonly kind: 'not_sent'; readonly reason: string }
  /** At least a part of the request was sent, and no whole response came back. The reason is `timeout` when time ran out. */
  | { readonly kind: 'no_response'; readonly reason: string }

/** Sends a request and reads the whole response. Never rejects. */
export async function exchangeWhole(
  client: HttpClient,
  { method, url, headers, body, limits }: WholeRequest,
): Promise<WholeOutcome> {
  const { connectMilliseconds, totalMilliseconds, bytesMax, connection } = limits
  const deadline = performance.now() + totalMilliseconds
  const outcome = await client.send({
    method,
    url,
    headers,
    body,
    timeouts: { connectMilliseconds, firstByteMilliseconds: totalMilliseconds },
    deadline,
    connection,
    isRepeatable: connection === 'pooled',
  })
  switch (outcome.kind) {
    case 'response':
      return await readWhole(outcome, bytesMax, deadline)
    case 'first_byte_timeout':
      return { kind: 'no_response', reason: 'timeout' }
    case 'aborted':
    case 'given_up':
      // Only a signal causes these, and the request has none.
      return { kind: 'no_response', reason: 'given up' }
    default:
      return outcome
  }
}

async function readWhole(
  { status, headers, body }: HttpResponse,
  bytesMax: number,
  deadline: number,
): Promise<WholeOutcome> {
  // A small body arrives with its head, and needs no timer.
  const timer = body.isOver
    ? undefined
    : setTimeout(() => body.fail('timeout'), Math.max(1, deadline - performance.now()))
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    // Cheaper than `for await`, twice in each relayed request.
    for (let next = await body.next(); next.done !== true; next = await body.next()) {
      bytes += next.value.length
      if (bytes > bytesMax) {
        body.destroy()
        return { kind: 'no_response', reason: 'answer too large' }
      }
      chunks.push(next.value)
    }
    return { kind: 'response', status, headers, text: Buffer.concat(chunks, bytes).toString('utf8') }
  } catch (error) {
    if (error instanceof ResponseBrokenError) {
      return { kind: 'no_response', reason: error.reason }
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}
