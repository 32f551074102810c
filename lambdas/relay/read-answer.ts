import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import { beginsAsObject } from '#core/relay/json-marks.ts'
import type { PassingForm } from '#core/relay/passing-answer.ts'
import type { UpstreamReply } from './call-upstream.ts'
import { cutAnswer, type Unfinished } from './large-answer.ts'
import type { AnswerWriter } from './relay-request.ts'
import { type CutReply, reportCutAnswer } from './report-cut-answer.ts'

/** The largest answer that is held whole: 2,048 vectors of 3,072 numbers with all their digits come to 133 MB. */
const ANSWER_BYTES_MAX = 160 * 1024 * 1024

/** An error text of an upstream that goes to the client; no real one comes near. */
export const REFUSAL_BYTES_MAX = 1024 * 1024

type ReadableAnswer = Pick<UpstreamReply, 'failed'> & { readonly body: AsyncIterable<Buffer> & { destroy(): void } }

/** How much of an answer is held, and for how long it is waited for. */
export type Bounds = {
  readonly bytesMax?: number | undefined
  /** By when it is to be whole, as a time of `performance.now()`; undefined where the client hears of it meanwhile. */
  readonly deadline?: number | undefined
  /** Fires when the client leaves: then nobody waits for the deadline, and another bound ends the answer. */
  readonly gone?: AbortSignal
}

/** The whole answer of an upstream, or what was held of one that is larger. @throws as {@link readAnswer} */
async function readUpTo(reply: ReadableAnswer, bounds: Bounds): Promise<Buffer | Unfinished> {
  const { body } = reply
  const { bytesMax = ANSWER_BYTES_MAX, deadline, gone } = bounds
  let isLate = false
  const late = () => {
    if (gone?.aborted !== true) {
      isLate = true
      body.destroy()
    }
  }
  const timer = deadline === undefined ? undefined : setTimeout(late, Math.max(0, deadline - performance.now()))
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
  const [only] = held
  return held.length === 1 && only !== undefined ? only : Buffer.concat(held, size)
}

/**
 * The whole answer of an upstream, as bytes.
 * @throws UpstreamFailedError when it breaks off or is larger than any answer of this wire; UpstreamTimeoutError when it is
 *   not whole in time.
 */
export async function readAnswer(reply: ReadableAnswer, bounds: Bounds = {}): Promise<Buffer> {
  const read = await readUpTo(reply, bounds)
  if (Buffer.isBuffer(read)) {
    return read
  }
  reply.body.destroy()
  throw new UpstreamFailedError({ cause: new RangeError('the answer is larger than any of its kind') })
}

type Success = Bounds & { readonly form: PassingForm }

/**
 * As {@link readAnswer}, for a success, which its upstream bills: an operator hears of one that is cut.
 * @throws AnswerTooLargeError, with what there is to bill.
 */
export async function readSuccess(reply: ReadableAnswer & CutReply, { form, ...bounds }: Success): Promise<Buffer> {
  const read = await readSuccessUpTo(reply, bounds)
  if (Buffer.isBuffer(read)) {
    return read
  }
  throw await cutAnswer(reply, read, { form, deadline: bounds.deadline })
}

/** As {@link readSuccess}, but for one that is too large, of which it gives what was held. */
export async function readSuccessUpTo(reply: ReadableAnswer & CutReply, bounds: Bounds): Promise<Buffer | Unfinished> {
  try {
    const read = await readUpTo(reply, bounds)
    if (Buffer.isBuffer(read) || beginsAsObject(read.held)) {
      return read
    }
  } catch (error) {
    if (error instanceof UpstreamTimeoutError) {
      reportCutAnswer(reply, 'seconds')
    }
    throw error
  }
  reply.body.destroy()
  return refuseAnswer(reply, 'the answer is no JSON object')
}

/** A success that is no answer of this wire: the channel is at fault. @throws UpstreamFailedError always */
export function refuseAnswer(reply: Pick<UpstreamReply, 'failed'>, reason: string): never {
  reply.failed()
  throw new UpstreamFailedError({ cause: new TypeError(reason) })
}

/** Whether the upstream took the request; otherwise what it says about the request is relayed as it is. */
export function isSuccess({ status }: Pick<UpstreamReply, 'status'>): boolean {
  return status >= 200 && status < 300
}

/**
 * Relays what an upstream says against a request: status and body as they are, but for the keys that it was called with.
 * Nothing is billed for it.
 */
export async function relayRefusal(reply: UpstreamReply, answer: AnswerWriter, deadline: number): Promise<void> {
  const text = (await readAnswer(reply, { bytesMax: REFUSAL_BYTES_MAX, deadline })).toString('latin1')
  const body = Buffer.from(reply.withoutCredentials(text), 'latin1')
  sendWhole(answer, { statusCode: reply.status, contentType: reply.contentType, body })
}

type WholeAnswer = {
  readonly statusCode: number
  readonly contentType?: string | undefined
  readonly body: Buffer
  /** Besides type and length. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends an answer in one piece, with its length. */
export function sendWhole(answer: AnswerWriter, { statusCode, contentType, body, headers }: WholeAnswer): void {
  answer.open({
    statusCode,
    headers: { 'content-type': contentType ?? 'application/json', 'content-length': String(body.length), ...headers },
  })
  answer.write(body)
  answer.end()
}

/** Sends an answer whose length is known, piece by piece. A slow client is waited for between two pieces. */
export async function sendPieces(
  answer: AnswerWriter,
  {
    statusCode,
    contentType,
    pieces,
  }: { statusCode: number; contentType?: string | undefined; pieces: readonly Uint8Array[] },
): Promise<void> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  answer.open({
    statusCode,
    headers: { 'content-type': contentType ?? 'application/json', 'content-length': String(length) },
  })
  for (const piece of pieces) {
    if (!answer.write(asBuffer(piece))) {
      await answer.drained()
    }
  }
  answer.end()
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
