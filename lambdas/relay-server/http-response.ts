import type { IncomingMessage, ServerResponse } from 'node:http'
import { Abort, type AbortNotice } from '#core/abort-notice.ts'
import type { ReceivedRequest } from '#middleware/api-event.ts'
import { BAD_RESPONSE, SHUTTING_DOWN, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import {
  type HeldResponse,
  SLICE_BYTES,
  WAITING_STREAM_BYTES,
  whenClosed,
  writeInSlices,
} from '#platform/http-server/unread-responses.ts'
import type { ClientResponse, ResponseHead, ResponseHeaders } from '../relay/client-response.ts'

type Options = {
  readonly requestId: string
  readonly headers: ResponseHeaders
  /** Counts bytes of the response until the client has received them. */
  readonly hold: (bytes: number) => HeldResponse
}

/** Smaller responses are not counted, because a connection has only one at a time. */
const SMALL_RESPONSE_BYTES = 16 * 1024

/** The response to a relayed request on a connection of this process. */
export class HttpResponse implements ClientResponse {
  readonly #response: ServerResponse
  readonly #options: Options
  readonly #gone = new Abort()
  readonly #ending = new Abort()
  readonly #closed: Promise<void>
  #statusCode: number | undefined
  /** The event by which a stream says that it ends early. */
  #outOfTime: ResponseHead['outOfTime']
  /** Bytes that the head's content-length still promises; undefined without one. */
  #promised: number | undefined
  #held: HeldResponse | undefined
  /** Resolves when the slices of the last large write are handed over. */
  #slices: Promise<void> | undefined
  #hasBody = false
  #hasEnded = false

  constructor(response: ServerResponse, options: Options) {
    this.#response = response
    this.#options = options
    this.#closed = new Promise((resolve) => {
      whenClosed(response, () => {
        this.#held?.release()
        if (!response.writableFinished) {
          this.#gone.abort()
        }
        resolve()
      })
    })
  }

  get gone(): AbortNotice {
    return this.#gone
  }

  get ending(): AbortNotice {
    return this.#ending
  }

  get isOpen(): boolean {
    return this.#statusCode !== undefined
  }

  get statusCode(): number | undefined {
    return this.#statusCode
  }

  /** Does nothing the second time, for example after an error that was due at the front door. */
  open({ statusCode, headers, outOfTime }: ResponseHead): void {
    if (this.isOpen) {
      return
    }
    if (this.#gone.aborted) {
      this.#statusCode = statusCode
      return
    }
    // Throws for a header that HTTP does not allow; the response can then still be an error.
    this.#response.writeHead(statusCode, this.#options.headers.complete(headers))
    this.#statusCode = statusCode
    this.#outOfTime = outOfTime
    const length = headers['content-length']
    if (length !== undefined) {
      this.#promised = Number(length)
      this.#held = this.#promised > SMALL_RESPONSE_BYTES ? this.#options.hold(this.#promised) : undefined
    }
    // The head leaves with the first bytes of the same turn, in one packet.
    process.nextTick(() => {
      if (!(this.#hasBody || this.#hasEnded)) {
        this.#response.flushHeaders()
      }
    })
  }

  write(chunk: Buffer | string): boolean {
    if (!this.isOpen || this.#hasEnded || this.#gone.aborted) {
      return true
    }
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (!this.#hasBody && bytes.length === this.#promised && bytes.length <= SMALL_RESPONSE_BYTES) {
      this.#hasEnded = true
      // Node writes head and body as one string, which takes one simple call of the system instead of a list of buffers.
      this.#response.end(bytes.toString('latin1'), 'latin1')
      return true
    }
    this.#hasBody = true
    if (this.#promised !== undefined) {
      this.#promised -= bytes.length
    }
    if (this.#slices === undefined && bytes.length <= SLICE_BYTES) {
      return this.#response.write(bytes)
    }
    this.#writeSlices(bytes)
    return false
  }

  /** A client that reads slowly slows the upstream down; a client that leaves frees the upstream. */
  async drained(): Promise<void> {
    // A large response is counted already, with its length or with each of its writes.
    const held = (this.#held ?? this.#slices) ? undefined : this.#options.hold(WAITING_STREAM_BYTES)
    while (!this.#gone.aborted && (this.#slices !== undefined || this.#response.writableNeedDrain)) {
      await (this.#slices ?? this.#room())
    }
    this.#held?.taken()
    held?.release()
  }

  end(): void {
    if (this.#slices === undefined) {
      this.#finish()
    } else {
      void this.#slices.then(() => this.end())
    }
  }

  /**
   * Stops sending: neither a client that reads too slowly nor an upstream that takes too long is waited for any longer. A
   * stream of events ends with an error, so that no client takes the part for the whole; JSON ends before it is complete.
   */
  giveUp(): void {
    if (this.#outOfTime !== undefined && !(this.#hasEnded || this.#gone.aborted)) {
      this.#response.write(this.#outOfTime())
    }
    this.#gone.abort()
  }

  /** The process ends: as {@link giveUp}, and no upstream is waited for. A response that has not begun becomes a 503. */
  endNow(): void {
    this.giveUp()
    this.#ending.abort()
  }

  /** Ends a response that was left without an end, and resolves when the client has every byte, or has left. */
  async finished(): Promise<void> {
    if (!(this.#hasEnded || this.#slices !== undefined)) {
      this.#finish()
    }
    await this.#closed
  }

  /** The slices of a large write follow each other at the pace of the client. */
  #writeSlices(bytes: Buffer): void {
    const held = this.#held ?? this.#options.hold(bytes.length)
    const before = this.#slices ?? Promise.resolve()
    const slices = before.then(async () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      writeInSlices(this.#response, bytes, { onTaken: held.taken, onDone: resolve })
      await Promise.race([promise, this.#closed])
      if (held !== this.#held) {
        held.release()
      }
      if (this.#slices === slices) {
        this.#slices = undefined
      }
    })
    this.#slices = slices
  }

  #room(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#response.once('drain', resolve)
    this.#gone.addEventListener('abort', resolve)
    return promise.finally(() => {
      this.#response.off('drain', resolve)
      this.#gone.removeEventListener('abort', resolve)
    })
  }

  /** A response that is shorter than its length is cut with its connection, so that no client waits for the rest. */
  #finish(): void {
    if (this.#hasEnded) {
      return
    }
    this.#hasEnded = true
    if (!this.#response.headersSent) {
      const refusal = this.#ending.aborted ? SHUTTING_DOWN : BAD_RESPONSE
      sendGatewayError(this.#response, this.#options.requestId, refusal)
    } else if (this.#promised === undefined || this.#promised <= 0) {
      this.#response.end()
    } else {
      this.#response.socket?.destroySoon()
    }
  }
}

/** Lambda Web Functions name each request in this header; a client's own is removed by the platform. */
const PLATFORM_REQUEST_ID = 'lambda-web-request-id'

/** The path of a request target, and the names of its query parameters. */
export type RequestTarget = Pick<ReceivedRequest, 'path' | 'queryNames'>

/** @param url a path with its query, such as `/v1/models?a=1`. */
export function readTarget(url = '/'): RequestTarget {
  const end = url.indexOf('?')
  return end < 0
    ? { path: url, queryNames: [] }
    : { path: url.slice(0, end), queryNames: [...new Set(new URLSearchParams(url.slice(end)).keys())] }
}

/** A request of Node's HTTP server, after its body was read. */
export function receivedOverHttp(
  { rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>,
  { path, queryNames }: RequestTarget,
  body: Buffer,
): ReceivedRequest {
  return {
    path,
    queryNames,
    headerLines: (name) => headerLinesOf(rawHeaders, name),
    body,
    platformRequestId: headerLinesOf(rawHeaders, PLATFORM_REQUEST_ID).at(-1),
  }
}

const NONE: readonly string[] = []

/** Looks the few headers up that anybody asks for, instead of reading all of them into an object. @param name in lower case. */
function headerLinesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  let lines = NONE
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const written = rawHeaders[index] ?? ''
    if (written.length === name.length && written.toLowerCase() === name) {
      lines = [...lines, rawHeaders[index + 1] ?? '']
    }
  }
  return lines
}
