import { UpstreamFailedError } from '#core/errors.ts'
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

type ReadableAnswer = { readonly body: AsyncIterable<Buffer> & { destroy(): void } }

/**
 * The whole answer of an upstream, as bytes.
 * @throws UpstreamFailedError when it breaks off or is larger than any answer of this wire.
 */
export async function readAnswer({ body }: ReadableAnswer, bytesMax = ANSWER_BYTES_MAX): Promise<Buffer> {
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
    throw new UpstreamFailedError({ cause: error })
  }
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)
}

/** As {@link readAnswer}, for a success: an operator hears of one that is too large, because its upstream charges for it. */
export async function readSuccess(reply: Pick<UpstreamReply, 'body'> & CutReply, bytesMax?: number): Promise<Buffer> {
  try {
    return await readAnswer(reply, bytesMax)
  } catch (error) {
    if (error instanceof UpstreamFailedError && error.cause instanceof AnswerTooLargeError) {
      reportCutAnswer(reply, 'bytes')
    }
    throw error
  }
}

type Read = { readonly answer: AnswerWriter; readonly bill: Bill; readonly bytesMax?: number }

/**
 * As {@link readSuccess}, for a client who may leave meanwhile: then it is read on for a bounded time, and what did not come
 * in that time is billed at the estimate.
 */
export async function readBilledAnswer(reply: UpstreamReply, { answer, bill, bytesMax }: Read): Promise<Buffer> {
  const stopWaiting = boundWhenGone(reply.body, answer.gone)
  try {
    return await readSuccess(reply, bytesMax)
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
export async function relayRefusal(reply: UpstreamReply, answer: AnswerWriter): Promise<void> {
  const body = await readAnswer(reply, REFUSAL_BYTES_MAX)
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
