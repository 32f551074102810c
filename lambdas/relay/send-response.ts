import { logger } from '#adapters/telemetry/logger.ts'
import type { Microcredits } from '#core/money/money.ts'
import { DO_NOT_RETRY } from '#core/should-retry.ts'
import { errorResult } from '#middleware/error-response.ts'
import { ClientGoneError, type ClientResponse } from './client-response.ts'
import { costHeaders } from './cost-headers.ts'

type WholeBody = {
  readonly statusCode: number
  readonly contentType?: string | undefined
  readonly body: Buffer
  /** Besides type and length. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a response in one piece, with its length. */
export function sendWhole(
  response: ClientResponse,
  { statusCode, contentType = 'application/json', body, headers }: WholeBody,
): void {
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
