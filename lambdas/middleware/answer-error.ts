import { ClientGoneError } from '#adapters/relay/call-upstream.ts'
import type { AnswerWriter } from '#adapters/relay/relay-request.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { ApiResult } from './api-event.ts'
import { errorResult } from './error-response.ts'

/** Tells the client of a relayed request what went wrong, unless it has left, or has part of an answer already. */
export function answerError(
  error: unknown,
  { path, requestId, writer }: { path: string; requestId: string; writer: AnswerWriter },
): void {
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
  writer.open({ statusCode, headers: { ...toTexts(headers), 'content-length': String(Buffer.byteLength(body)) } })
  writer.write(body)
  writer.end()
}

function toTexts(headers: ApiResult['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers ?? {}).map(([name, value]) => [name, String(value)]))
}

/** A failure is told where it happens, and once. */
export function onlyOnce(tell: (error: unknown) => void): (error: unknown) => void {
  let isTold = false
  return (error) => {
    if (!isTold) {
      isTold = true
      tell(error)
    }
  }
}
