import type { IncomingMessage } from 'node:http'

/** A request body above the bound; the rest was not read. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** The client left before it had sent all of its body. */
class BodyCutError extends Error {
  override readonly name = 'BodyCutError'
}

/**
 * Reads a request body whole. By events, which costs a small body less than iteration.
 * @throws BodyTooLargeError above `bytesMax`, BodyCutError when the connection ends first.
 */
export function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const cut = (cause?: Error) => reject(new BodyCutError('the connection ended inside the body', { cause }))
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > bytesMax) {
        chunks.length = 0
        reject(new BodyTooLargeError(`the body is larger than ${bytesMax} bytes`))
        return
      }
      chunks.push(chunk)
    })
    request.once('end', () => {
      request.off('close', cut)
      const [first] = chunks
      resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size))
    })
    request.on('error', cut)
    request.once('close', cut)
  })
}
