import { TextDecoder } from 'node:util'
import { logger } from '#adapters/telemetry/logger.ts'
import type { Microcredits } from '#core/money/money.ts'
import { DO_NOT_RETRY } from '#core/should-retry.ts'
import { errorResult } from '#middleware/error-response.ts'
import { ClientGoneError, type ClientResponse } from './client-response.ts'
import { costHeaders } from './cost-headers.ts'

type WholeBody = {
  readonly statusCode: number
  /** As the upstream named it. Default: JSON. */
  readonly contentType?: string | undefined
  readonly body: Buffer
  /** Besides type and length. */
  readonly headers?: Readonly<Record<string, string>>
}

/** What clients of this API expect; anything else of an upstream is words, and no page of this origin. */
const OWN_TYPE = /^\s*(application\/([\w.-]+\+)?json|text\/event-stream)\s*(;|$)/i

/** A body that is neither JSON nor a stream of events, as plain text in UTF-8. */
function plainText(body: Buffer, contentType: string) {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1]
  return { contentType: 'text/plain; charset=utf-8', body: Buffer.from(decoderOf(charset).decode(body)) }
}

/** Unknown names of charsets are not worth an error. */
function decoderOf(charset: string | undefined): TextDecoder {
  try {
    return new TextDecoder(charset)
  } catch {
    return new TextDecoder()
  }
}

/** Sends a response in one piece, with its length. */
export function sendWhole(
  response: ClientResponse,
  { statusCode, contentType: given = 'application/json', body: bytes, headers }: WholeBody,
): void {
  const { contentType, body } = OWN_TYPE.test(given) ? { contentType: given, body: bytes } : plainText(bytes, given)
  response.open({
    statusCode,
    headers: { 'content-type': contentType, 'content-length': String(body.length), ...headers },
  })
  response.write(body)
  response.end()
}

/** Sends JSON of a known length piece by piece, and waits for a slow client between two pieces. */
export async function sendPieces(
  response: ClientResponse,
  { statusCode, pieces, headers }: Omit<WholeBody, 'body' | 'contentType'> & { readonly pieces: readonly Uint8Array[] },
): Promise<void> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  response.open({
    statusCode,
    headers: { 'content-type': 'application/json', 'content-length': String(length), ...headers },
  })
  for (const piece of pieces) {
    await sendPiece(response, piece)
  }
  response.end()
}

/** Writes to an open response, and resolves when the client has room for more. */
export async function sendPiece(response: ClientResponse, piece: Uint8Array): Promise<void> {
  if (!response.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))) {
    await response.drained()
  }
}

type Failed = {
  readonly path: string
  readonly requestId: string
  /** The failed request was billed: a retry would be billed again. */
  readonly isBilled: boolean
  readonly cost?: Microcredits | undefined
}

/** Tells the client what went wrong, unless the client has left, has a part of its response, or is told that the process ends. */
export function sendError(response: ClientResponse, error: unknown, { path, requestId, isBilled, cost }: Failed): void {
  if (error instanceof ClientGoneError || response.ending?.aborted === true) {
    return
  }
  if (response.isOpen) {
    logger.error('request failed after its answer began', {
      requestId,
      error: error instanceof Error ? error : new Error(String(error)),
    })
    response.end()
    return
  }
  const { statusCode, headers = {}, body } = errorResult(error, { path, requestId })
  const strings = Object.entries(headers).map(([name, value]) => [name, String(value)])
  response.open({
    statusCode,
    headers: {
      ...Object.fromEntries(strings),
      ...(isBilled ? { ...DO_NOT_RETRY, ...costHeaders(cost) } : {}),
      'content-length': String(Buffer.byteLength(body)),
    },
  })
  response.write(body)
  response.end()
}
