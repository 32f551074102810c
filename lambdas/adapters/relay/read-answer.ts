import { UpstreamFailedError, UpstreamTimeoutError } from '#core/errors.ts'
import type { Bill } from './bill-request.ts'
import { boundWhenGone } from './bound-when-gone.ts'
import type { UpstreamReply } from './call-upstream.ts'
import type { AnswerWriter } from './relay-request.ts'
import { type CutReply, reportCutAnswer } from './report-cut-answer.ts'

/** The largest answer that is held whole: 2,048 vectors of 3,072 numbers with all their digits come to 133 MB. */
const ANSWER_BYTES_MAX = 160 * 1024 * 1024

/** An error text of an upstream that goes to the client; no real one comes near. */
export const REFUSAL_BYTES_MAX = 1024 * 1024

/** An answer is larger than any of its wire that is held whole. */
class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError'
}

type ReadableAnswer = Pick<UpstreamReply, 'failed'> & { readonly body: AsyncIterable<Buffer> & { destroy(): void } }

type Bounds = {
  readonly bytesMax?: number | undefined
  /** By when it is to be whole, as a time of `performance.now()`; undefined where the client hears of it meanwhile. */
  readonly deadline?: number | undefined
  /** Fires when the client leaves: then nobody waits for the deadline, and another bound ends the answer. */
  readonly gone?: AbortSignal
}

/**
 * The whole answer of an upstream, as bytes.
 * @throws UpstreamFailedError when it breaks off or is larger than any answer of this wire; UpstreamTimeoutError when it is
 *   not whole in time.
 */
export async function readAnswer(reply: ReadableAnswer, bounds: Bounds = {}): Promise<Buffer> {
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
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of body) {
      size += chunk.length
      if (size > bytesMax) {
        throw new AnswerTooLargeError(`an answer of more than ${bytesMax} bytes`)
      }
      chunks.push(chunk)
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
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)
}

/** As {@link readAnswer}, for a success: an operator hears of one that is too large or too slow, because its upstream charges for it. */
export async function readSuccess(reply: ReadableAnswer & CutReply, bounds: Bounds): Promise<Buffer> {
  try {
    return await readAnswer(reply, bounds)
  } catch (error) {
    if (error instanceof UpstreamFailedError && error.cause instanceof AnswerTooLargeError) {
      reportCutAnswer(reply, 'bytes')
    } else if (error instanceof UpstreamTimeoutError) {
      reportCutAnswer(reply, 'seconds')
    }
    throw error
  }
}

type Read = Omit<Bounds, 'gone'> & { readonly answer: AnswerWriter; readonly bill: Bill }

/**
 * As {@link readSuccess}, for a client who may leave meanwhile: then it is read on for a bounded time, and what did not come
 * in that time is billed at the estimate.
 */
export async function readBilledAnswer(reply: UpstreamReply, { answer, bill, ...bounds }: Read): Promise<Buffer> {
  const stopWaiting = boundWhenGone(reply.body, answer.gone)
  try {
    return await readSuccess(reply, { ...bounds, gone: answer.gone })
  } catch (error) {
    if (answer.gone.aborted) {
      bill.settleByEstimate(bill.locked)
    }
    throw error
  } finally {
    stopWaiting()
  }
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

/** Relays what an upstream says against a request: status and body as they are. Nothing is billed for it. */
export async function relayRefusal(reply: UpstreamReply, answer: AnswerWriter, deadline: number): Promise<void> {
  const body = await readAnswer(reply, { bytesMax: REFUSAL_BYTES_MAX, deadline })
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
