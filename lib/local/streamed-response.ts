import type { ServerResponse } from 'node:http'
import * as z from 'zod'
import { BAD_RESPONSE, sendGatewayError } from '#platform/http-server/gateway-error.ts'
import { type HeldResponse, SLICE_BYTES, writeInSlices } from '#platform/http-server/unread-responses.ts'
import type { ResponseSink } from './awslambda.ts'

/** Status and headers of a streamed response. Each header name occurs once, in its first spelling. */
export type ResponseHead = {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, string | string[]>>
}

/** The prelude is not JSON of the documented form, or its delimiter is missing. */
export class MalformedPreludeError extends Error {
  override readonly name = 'MalformedPreludeError'
}

/** API Gateway expects the metadata and the delimiter within the first 16 KB of a stream. */
const PRELUDE_BYTES_MAX = 16 * 1024
const DELIMITER = Buffer.alloc(8)

const value = z.union([z.string(), z.number(), z.boolean()]).transform(String)

/** The fields that API Gateway documents; each is optional. */
const metadata = z.strictObject({
  statusCode: z.int().min(200).max(599).default(200),
  headers: z.record(z.string(), value).default({}),
  multiValueHeaders: z.record(z.string(), z.array(value)).default({}),
  cookies: z.array(z.string()).default([]),
})

/**
 * Reads the framing of a streamed Lambda response like API Gateway: metadata in JSON, eight NUL bytes, and the body. Chunks may be split
 * anywhere.
 */
export class ResponseFraming {
  #held: Buffer | undefined
  #head: ResponseHead | undefined

  /** Undefined until the whole prelude has arrived. */
  get head(): ResponseHead | undefined {
    return this.#head
  }

  /**
   * @returns the part of the bytes that belongs to the body, without a copy.
   * @throws MalformedPreludeError; later bytes are meaningless.
   */
  push(bytes: Buffer): Buffer {
    if (this.#head !== undefined) {
      return bytes
    }
    const held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes])
    const end = findDelimiter(held)
    if (end === undefined) {
      this.#held = held
      return held.subarray(held.length)
    }
    this.#held = undefined
    this.#head = readHead(held.toString('utf8', 0, end))
    return held.subarray(end + DELIMITER.length)
  }
}

/** The position of the delimiter; undefined while it may still arrive. @throws MalformedPreludeError */
function findDelimiter(bytes: Buffer): number | undefined {
  const start = bytes.subarray(0, PRELUDE_BYTES_MAX).indexOf(0)
  const end = (start === -1 ? bytes.length : start) + DELIMITER.length
  if (end > PRELUDE_BYTES_MAX) {
    throw new MalformedPreludeError(`the prelude is larger than ${PRELUDE_BYTES_MAX} bytes`)
  }
  if (start === -1) {
    return undefined
  }
  const found = bytes.subarray(start, end)
  if (!DELIMITER.subarray(0, found.length).equals(found)) {
    throw new MalformedPreludeError('the metadata is not followed by eight NUL bytes')
  }
  return found.length === DELIMITER.length ? start : undefined
}

/** @throws MalformedPreludeError */
function readHead(text: string): ResponseHead {
  const parsed = metadata.safeParse(parseJson(text))
  if (!parsed.success) {
    throw new MalformedPreludeError('the metadata is not that of an HTTP response')
  }
  const { statusCode, headers, multiValueHeaders, cookies } = parsed.data
  const isPlain = cookies.length === 0 && Object.keys(multiValueHeaders).length === 0
  return { statusCode, headers: isPlain ? headers : mergeHeaders(headers, multiValueHeaders, cookies) }
}

/** Undefined for invalid JSON, which is not valid metadata either. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Merges both kinds of headers, ignoring the case of names; a value in both kinds counts once. */
function mergeHeaders(
  single: Record<string, string>,
  multiple: Record<string, string[]>,
  cookies: readonly string[],
): Record<string, string | string[]> {
  const merged = new Map<string, { name: string; values: string[] }>()
  const valuesOf = (name: string) => {
    const entry = merged.get(name.toLowerCase()) ?? { name, values: [] }
    merged.set(name.toLowerCase(), entry)
    return entry.values
  }
  for (const [name, values] of Object.entries(multiple)) {
    valuesOf(name).push(...values)
  }
  for (const [name, each] of Object.entries(single)) {
    const values = valuesOf(name)
    if (!values.includes(each)) {
      values.push(each)
    }
  }
  if (cookies.length > 0) {
    valuesOf('set-cookie').push(...cookies)
  }
  return Object.fromEntries(
    [...merged.values()].map(({ name, values: [first = '', ...more] }) => [
      name,
      more.length > 0 ? [first, ...more] : first,
    ]),
  )
}

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
    sendGatewayError(this.#response, this.#requestId, BAD_RESPONSE)
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
