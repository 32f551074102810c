import type { IncomingMessage } from 'node:http'
import type { BodiesBeingRead, BodySource } from './bodies-being-read.ts'
import { BODY_TOO_LATE, BODY_TOO_SLOW, type GatewayError, INTERNAL_ERROR, REQUEST_TOO_LARGE } from './gateway-error.ts'

/** A body that is too large, or came too slowly; the rest was not read. */
class BodyRefusedError extends Error {
  override readonly name = 'BodyRefusedError'
  readonly refusal: GatewayError

  constructor(refusal: GatewayError) {
    super(refusal.message)
    this.refusal = refusal
  }
}

/** The client left before it had sent its whole body. */
class BodyCutError extends Error {
  override readonly name = 'BodyCutError'
}

const CUT = 'the connection ended inside the body'

/** API Gateway's own limit of a request, in bytes. */
export const REQUEST_BYTES_MAX = 10 * 1024 * 1024

/**
 * Reads a whole request body. Uses events, which are cheaper than iteration for a small body.
 * @param budget the shared budget, and whose memory the body takes; without it, only the bound of this body applies.
 * @throws BodyRefusedError above `bytesMax`, also of the announced length, or when it comes too slowly; BodyCutError if the connection ends
 *   first.
 */
export function readBody(
  request: IncomingMessage,
  bytesMax: number,
  budget?: { readonly bodies: BodiesBeingRead; readonly owner: string },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    // The connection ended before anybody read: its events are over.
    if (request.destroyed) {
      reject(new BodyCutError(CUT))
      return
    }
    if (Number(request.headers['content-length']) > bytesMax) {
      reject(new BodyRefusedError(REQUEST_TOO_LARGE))
      return
    }
    const chunks: Buffer[] = []
    let size = 0
    const stop = (error: Error) => {
      request.off('data', take)
      chunks.length = 0
      counted?.end()
      reject(error)
    }
    const source: BodySource = {
      pause: () => request.pause(),
      resume: () => request.resume(),
      giveUp: (reason) => {
        request.pause()
        stop(new BodyRefusedError(reason === 'late' ? BODY_TOO_LATE : BODY_TOO_SLOW))
      },
    }
    const counted = budget?.bodies.begin(source, budget.owner)
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > bytesMax) {
        stop(new BodyRefusedError(REQUEST_TOO_LARGE))
        return
      }
      chunks.push(chunk)
      counted?.add(chunk.length)
    }
    const cut = (cause?: Error) => stop(new BodyCutError(CUT, { cause }))
    request.on('data', take)
    request.once('end', () => {
      request.off('close', cut)
      counted?.end()
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size))
    })
    request.on('error', cut)
    request.once('close', cut)
  })
}

/** The response to a request whose body was not read, or that failed in any other way. */
export function refusalOf(error: unknown): GatewayError {
  return error instanceof BodyRefusedError ? error.refusal : INTERNAL_ERROR
}
