import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { BodiesBeingRead } from './bodies-being-read.ts'
import { BODY_TOO_SLOW, type GatewayError, INTERNAL_ERROR, REQUEST_TOO_LARGE } from './gateway-error.ts'

/** A request body above the bound; the rest was not read. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** A body came too slowly while the memory for bodies was full; the rest was not read. */
export class BodyTooSlowError extends Error {
  override readonly name = 'BodyTooSlowError'
}

/** The client left before it had sent its whole body. */
class BodyCutError extends Error {
  override readonly name = 'BodyCutError'
}

/** API Gateway's own limit of a request, in bytes. */
export const REQUEST_BYTES_MAX = 10 * 1024 * 1024

/**
 * Reads a whole request body. Uses events, which are cheaper than iteration for a small body.
 * @param bodies the shared budget; without it, only the bound of this body applies.
 * @throws BodyTooLargeError above `bytesMax`, BodyTooSlowError, BodyCutError if the connection ends first.
 */
export function readBody(request: IncomingMessage, bytesMax: number, bodies?: BodiesBeingRead): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const stop = (error: Error) => {
      chunks.length = 0
      counted?.end()
      reject(error)
    }
    const counted = bodies?.begin({
      pause: () => request.pause(),
      resume: () => request.resume(),
      giveUp: () => {
        request.off('data', take)
        request.pause()
        stop(new BodyTooSlowError('the body came too slowly while others waited'))
      },
    })
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > bytesMax) {
        stop(new BodyTooLargeError(`the body is larger than ${bytesMax} bytes`))
        return
      }
      chunks.push(chunk)
      counted?.add(chunk.length)
    }
    const cut = (cause?: Error) => stop(new BodyCutError('the connection ended inside the body', { cause }))
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
  if (error instanceof BodyTooLargeError) {
    return REQUEST_TOO_LARGE
  }
  return error instanceof BodyTooSlowError ? BODY_TOO_SLOW : INTERNAL_ERROR
}

/** Reads a body that nobody wants; resolves too when the client leaves. */
export async function readToTheEnd(request: IncomingMessage): Promise<void> {
  if (!request.complete) {
    request.resume()
    await Promise.race([once(request, 'end'), once(request, 'close')]).catch(() => undefined)
  }
}
