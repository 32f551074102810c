import type { AbortNotice } from '#core/abort-notice.ts'
import { hiddenInRefusal } from '#core/catalogue/hidden-fields.ts'
import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import type { FieldTree } from '#core/json/json-fields.ts'
import { OPEN_BRACE } from '#core/json/json-scanner.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { withoutHidden } from '#core/relay/reply-scan.ts'
import { inSteps, type Unfinished } from './large-reply.ts'
import { type CutReply, reportCutReply } from './leave-reply.ts'
import type { UpstreamReply } from './upstream-reply.ts'

/** The largest reply that is held whole: 2,048 vectors of 3,072 numbers with all their digits come to 133 MB. */
const REPLY_BYTES_MAX = 160 * 1024 * 1024

/** The largest error of an upstream that is relayed; no real one comes near. */
const REFUSAL_BYTES_MAX = 1024 * 1024

type ReadableReply = Pick<UpstreamReply, 'failed'> & {
  readonly body: AsyncIterable<Buffer> & { readonly isOver: boolean; destroy(): void }
}

/** Gets the bytes of a reply in their order. */
type Reader = { push(bytes: Buffer): unknown }

/** How much of a reply is held, and how long the gateway waits for the whole. */
export type Bounds = {
  readonly bytesMax?: number | undefined
  /** When the reply must be whole, as a time of `performance.now()`; undefined where the client gets bytes meanwhile. */
  readonly deadline?: number | undefined
  /** Fires when the client leaves. The deadline then no longer counts, and another bound ends the reply. */
  readonly gone?: AbortNotice
}

/**
 * Reads a reply in small steps while it arrives.
 * @returns its length, or the part that is held of a larger one. @throws as {@link readReply}
 */
async function readUpTo(reply: ReadableReply, bounds: Bounds, reader: Reader): Promise<number | Unfinished> {
  const { body } = reply
  const { bytesMax = REPLY_BYTES_MAX, deadline, gone } = bounds
  let isLate = false
  const late = () => {
    if (gone?.aborted !== true) {
      isLate = true
      body.destroy()
    }
  }
  const isTimed = deadline !== undefined && !body.isOver
  const timer = isTimed ? setTimeout(late, Math.max(0, deadline - performance.now())) : undefined
  const rest = body[Symbol.asyncIterator]()
  const held: Buffer[] = []
  let size = 0
  try {
    for (let next = await rest.next(); !next.done; next = await rest.next()) {
      size += next.value.length
      held.push(next.value)
      if (size > bytesMax) {
        return { held, rest }
      }
      await inSteps(next.value, size, (step) => reader.push(step))
    }
  } catch (error) {
    body.destroy()
    if (isLate) {
      reply.failed('timeout')
      throw new UpstreamTimeoutError({ cause: error })
    }
    throw new UpstreamFailedError({ cause: error })
  } finally {
    clearTimeout(timer)
  }
  return size
}

/**
 * Reads a whole reply.
 * @throws UpstreamFailedError when the reply breaks off or is larger than its bound; UpstreamTimeoutError when it is not
 *   whole in time.
 */
async function readReply(reply: ReadableReply, bounds: Bounds): Promise<Buffer> {
  const held: Buffer[] = []
  const read = await readUpTo(reply, bounds, held)
  if (typeof read === 'number') {
    return Buffer.concat(held)
  }
  reply.body.destroy()
  throw new UpstreamFailedError({ cause: new RangeError('the answer is larger than any of its kind') })
}

/**
 * Reads a success, for which the upstream charges, or the part of a larger one that is held. A success that the deadline cuts is
 * logged and counted.
 * @throws as {@link readReply}
 */
export async function readSuccessUpTo(
  reply: ReadableReply & CutReply,
  bounds: Bounds,
  reader: Reader,
): Promise<number | Unfinished> {
  try {
    const read = await readUpTo(reply, bounds, reader)
    if (typeof read === 'number' || beginsAsObject(read.held)) {
      return read
    }
  } catch (error) {
    if (error instanceof UpstreamTimeoutError) {
      reportCutReply(reply, 'seconds')
    }
    throw error
  }
  reply.body.destroy()
  return refuseReply(reply, 'the answer is no JSON object')
}

/** White space, and a byte order mark, may be before it. */
const BEFORE_JSON: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf])

function beginsAsObject(chunks: readonly Uint8Array[]): boolean {
  const first = chunks.map((chunk) => chunk.find((byte) => !BEFORE_JSON.has(byte))).find((byte) => byte !== undefined)
  return first === OPEN_BRACE
}

/** Blames the channel for a success that does not have the form of this API. @throws UpstreamFailedError always */
export function refuseReply(reply: Pick<UpstreamReply, 'failed'>, reason: string): never {
  reply.failed()
  throw new UpstreamFailedError({ cause: new TypeError(reason) })
}

type RefusalReading = {
  readonly deadline: number
  /** What no client sees of a reply. */
  readonly hidden: FieldTree
}

/** Stands for a refusal that does not say anything in the fields of an error. */
const REFUSED = JSON.stringify({
  error: {
    message: 'the upstream refused the request without a message for clients',
    type: 'invalid_request_error',
    param: null,
    code: null,
  },
})

/** Whether a text is an error in JSON: an object that says something, or a list of such objects. Its `error` is a string or an object. */
function isError(text: string): boolean {
  try {
    const json = parseJsonText(text.replace(/^\ufeff/, ''))
    const errors: readonly unknown[] = Array.isArray(json) ? json : [json]
    return errors.length > 0 && errors.every(saysSomething)
  } catch {
    return false
  }
}

function saysSomething(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0) {
    return false
  }
  return !('error' in value && Array.isArray(value.error))
}

/**
 * Reads what an upstream says against a request, without the keys that the upstream was called with. An `error` passes, of which only
 * what is for clients, or the fields of an error alone. Anything that is no such JSON, such as the page of a proxy, may name the
 * upstream: an error of ours takes its place.
 * @throws as {@link readReply}
 */
export async function readRefusal(reply: UpstreamReply, { deadline, hidden }: RefusalReading): Promise<Buffer> {
  const bytes = (await readReply(reply, { bytesMax: REFUSAL_BYTES_MAX, deadline })).toString('latin1')
  const shown = withoutHidden(reply.withoutCredentials(bytes), hiddenInRefusal(hidden))
  const refusal = Buffer.from(shown, 'latin1')
  return isError(refusal.toString()) ? refusal : Buffer.from(REFUSED)
}
