import { logger } from '#adapters/telemetry/logger.ts'
import { DO_NOT_RETRY } from '#core/should-retry.ts'
import type { ApiResult } from '#middleware/api-event.ts'
import { errorResult } from '#middleware/error-response.ts'
import { ClientGoneError } from './call-upstream.ts'
import type { AnswerWriter, RelayRequest } from './relay-request.ts'

type Failed = {
  readonly path: string
  readonly requestId: string
  readonly writer: AnswerWriter
  /** The request cost something although it failed: a second try would cost it again. */
  readonly isBilled: boolean
}

/** Tells the client of a relayed request what went wrong, unless it has left, or has part of an answer already. */
export function answerError(error: unknown, { path, requestId, writer, isBilled }: Failed): void {
  if (error instanceof ClientGoneError) {
    return
  }
  if (writer.isOpen) {
    logger.error('request failed after its answer began', {
      requestId,
      error: error instanceof Error ? error : new Error(String(error)),
    })
    writer.end()
    return
  }
  const { statusCode, headers, body } = errorResult(error, { path, requestId })
  writer.open({
    statusCode,
    headers: {
      ...toTexts(headers),
      ...(isBilled ? DO_NOT_RETRY : {}),
      'content-length': String(Buffer.byteLength(body)),
    },
  })
  writer.write(body)
  writer.end()
}

function toTexts(headers: ApiResult['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]))
}

/** A failure is told where it happens, and once. */
export function onlyOnce(tell: RelayRequest['tellFailure']): RelayRequest['tellFailure'] {
  let isTold = false
  return (error, isBilled) => {
    if (!isTold) {
      isTold = true
      tell(error, isBilled)
    }
  }
}
