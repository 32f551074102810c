import type { IncomingMessage } from 'node:http'

/** A request body above the bound; the rest was not read. */
export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError'
}

/** Reads a request body whole. @throws BodyTooLargeError above `bytesMax`. */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > bytesMax) {
      throw new BodyTooLargeError(`the body is larger than ${bytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
