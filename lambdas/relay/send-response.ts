import type { ErrorForm } from '#core/api/error-form.ts'
import { DO_NOT_RETRY } from '#core/http.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { errorResult } from '#middleware/responses.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { ClientGoneError, type ClientResponse } from './client-response.ts'

/** What a request is billed, as a decimal string in credits. */
const COST_HEADER = 'x-reelgate-cost'

/** The headers of a response that is not streamed: what its request costs; none where nothing is billed. */
export function costHeaders(cost: Microcredits | undefined): Readonly<Record<string, string>> {
  return cost === undefined ? {} : { [COST_HEADER]: formatCredits(cost) }
}

type JsonBody = {
  readonly statusCode: number
  /** Written one after the other. */
  readonly pieces: readonly Uint8Array[]
  /** Besides type and length. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A copy of so few bytes costs less than writing them piece by piece. */
const JOINED_BYTES_MAX = 64 * 1024

/** Sends JSON of a known length piece by piece, and waits for a slow client between two pieces. */
export async function sendJson(response: ClientResponse, { statusCode, pieces, headers }: JsonBody): Promise<void> {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  response.open({
    statusCode,
    headers: { 'content-type': 'application/json', 'content-length': String(length), ...headers },
  })
  const written = length > JOINED_BYTES_MAX ? pieces : [Buffer.concat(pieces, length)]
  const last = written.length - 1
  for (const [index, piece] of written.entries()) {
    if (!response.write(bufferOf(piece)) && index < last) {
      await response.drained()
    }
  }
  response.end()
}

function bufferOf(piece: Uint8Array): Buffer {
  return Buffer.isBuffer(piece) ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}

/** Writes to an open response, and resolves when the client has room for more. */
export async function sendPiece(response: ClientResponse, piece: Uint8Array): Promise<void> {
  if (!response.write(bufferOf(piece))) {
    await response.drained()
  }
}

type Failed = {
  readonly errors: ErrorForm
  readonly requestId: string
  /** The failed request was billed: a retry would be billed again. */
  readonly isBilled: boolean
  readonly cost?: Microcredits | undefined
}

/** Tells the client what went wrong, unless the client has left, has a part of its response, or is told that the process ends. */
export function sendError(
  response: ClientResponse,
  error: unknown,
  { errors, requestId, isBilled, cost }: Failed,
): void {
  if (error instanceof ClientGoneError || response.ending?.aborted === true) {
    return
  }
  if (response.isOpen) {
    logger.error('request failed after its response began', {
      requestId,
      error: error instanceof Error ? error : new Error(String(error)),
    })
    response.end()
    return
  }
  const { statusCode, headers = {}, body } = errorResult(error, { errors, requestId })
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
