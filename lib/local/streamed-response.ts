import type { ServerResponse } from 'node:http'
import { BAD_ANSWER, sendGatewayError } from '#adapters/http-server/gateway-error.ts'
import type { HeldResponse } from '#adapters/http-server/unread-responses.ts'
import { SLICE_BYTES, writeInSlices } from '#adapters/http-server/write-in-slices.ts'
import { ResponseFraming, type ResponseHead } from './response-framing.ts'
import type { ResponseSink } from './response-stream.ts'

type Options = {
  readonly requestId: string
  /** Counts the bytes that the function holds until its client has received them. */
  readonly hold: (bytes: number) => HeldResponse
}

/**
 * Passes a function's stream to the client like API Gateway: status and headers from the prelude, then the body as it arrives. Without a
 * valid prelude the response is a 502. A response that breaks after the prelude is cut together with its connection, so that no client
 * takes a part for the whole.
 */
export class StreamedResponse implements ResponseSink {
  readonly #response: ServerResponse
  readonly #requestId: string
  readonly #hold: Options['hold']
  readonly #framing = new ResponseFraming()
  /** A function that sends a content-length has the whole body already. */
  #heldWhole: HeldResponse | undefined
  /** Bytes that the head's content-length still promises. */
  #promised: number | undefined
  #hasBody = false
  #isCut = false

  constructor(response: ServerResponse, { requestId, hold }: Options) {
    this.#response = response
    this.#requestId = requestId
    this.#hold = hold
  }

  /** The client sets the handler's pace: bytes count as taken when the connection has room again. */
  take(bytes: Buffer, taken: () => void): void {
    const body = this.#isOver() ? undefined : this.#read(bytes)
    if (body === undefined || body.length === 0 || !this.#mayFollow(body)) {
      taken()
      return
    }
    this.#send(body, taken)
  }

  end(): void {
    if (this.#isOver()) {
      return
    }
    if (this.#framing.head === undefined) {
      this.#refuse()
    } else if (this.#promised === undefined || this.#promised === 0) {
      this.#response.end()
    } else {
      this.#cut()
    }
  }

  /** The function failed: an unfinished response is cut. */
  fail(): void {
    if (this.#isOver()) {
      return
    }
    if (this.#framing.head === undefined) {
      this.#refuse()
    } else {
      this.#cut()
    }
  }

  #isOver(): boolean {
    return this.#isCut || this.#response.writableEnded || this.#response.destroyed
  }

  /** The part of the bytes that belongs to the body; undefined if the framing is broken. */
  #read(bytes: Buffer): Buffer | undefined {
    const isOpen = this.#framing.head !== undefined
    try {
      const body = this.#framing.push(bytes)
      if (!isOpen && this.#framing.head !== undefined) {
        this.#open(this.#framing.head)
      }
      return body
    } catch {
      // The prelude is malformed, or has a name, value or status that HTTP does not allow.
      this.#refuse()
      return undefined
    }
  }

  /** The head waits for the body of the same turn, so that both are sent in one packet. */
  #open({ statusCode, headers }: ResponseHead): void {
    this.#response.writeHead(statusCode, headers)
    this.#promised = contentLengthOf(headers)
    if (this.#promised !== undefined) {
      this.#heldWhole = this.#hold(this.#promised)
    }
    process.nextTick(() => {
      if (!this.#isOver()) {
        this.#flushHead()
      }
    })
  }

  /** Clients would take bytes beyond the content-length for the next response. */
  #mayFollow(body: Buffer): boolean {
    if (this.#promised !== undefined) {
      this.#promised -= body.length
      if (this.#promised < 0) {
        this.#cut()
        return false
      }
    }
    return true
  }

  #send(body: Buffer, taken: () => void): void {
    this.#hasBody = true
    const heldPart = this.#heldWhole === undefined && body.length > SLICE_BYTES ? this.#hold(body.length) : undefined
    const held = this.#heldWhole ?? heldPart
    writeInSlices(this.#response, body, {
      onTaken: () => held?.taken(),
      onDone: () => {
        heldPart?.release()
        taken()
      },
    })
  }

  #flushHead(): void {
    if (!this.#hasBody) {
      this.#response.flushHeaders()
    }
  }

  /** Ends the connection inside the response: before its last chunk, or short of its length. */
  #cut(): void {
    this.#flushHead()
    this.#isCut = true
    const { socket } = this.#response
    if (socket === null) {
      this.#response.destroy()
    } else {
      socket.destroySoon()
    }
  }

  #refuse(): void {
    sendGatewayError(this.#response, this.#requestId, BAD_ANSWER)
  }
}

function contentLengthOf(headers: ResponseHead['headers']): number | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (name.toLowerCase() === 'content-length') {
      return Number(value)
    }
  }
  return undefined
}
