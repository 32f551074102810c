import { isJsonObject } from '#core/json/json-object.ts'
import type { UpstreamAnswer } from '../../http/upstream-exchange.ts'
import { parseJson } from './json-reading.ts'
import { errorMeaning, errorReason, isUnknownTask, readUpstreamError } from './upstream-error.ts'
import type { PollOutcome } from './video-provider.ts'

/** A JSON object that came with a status of success: what the task says is still to be read. */
export type TaskAnswer = {
  readonly kind: 'task'
  readonly status: number
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Separates an answer about the task from one that says nothing of it. */
export function pollAnswer(answer: UpstreamAnswer): TaskAnswer | PollOutcome {
  if (answer.kind !== 'response') {
    return { kind: 'unavailable', reason: answer.reason }
  }
  const body = parseJson(answer.text)
  const error = readUpstreamError(body)
  const reason = errorReason(answer.status, error)
  const isRefusal = answer.status >= 400 && answer.status < 500
  if (answer.status === 404 || (isRefusal && isUnknownTask(error))) {
    return { kind: 'gone', reason }
  }
  if (answer.status < 200 || answer.status >= 300) {
    return { kind: 'unavailable', reason }
  }
  return isJsonObject(body)
    ? { kind: 'task', status: answer.status, text: answer.text, body }
    : { kind: 'unavailable', reason: `${reason} is not a JSON object` }
}

/** The verdict on a task answer without any status word: an envelope around an error, or nothing that can be read. */
export function statuslessOutcome({ status, text, body }: TaskAnswer): PollOutcome {
  const error = readUpstreamError(body)
  const reason = `${errorReason(status, error)} without a task status`
  if (isUnknownTask(error)) {
    return { kind: 'gone', reason }
  }
  if (errorMeaning(error) === 'content_policy') {
    return { kind: 'failed', text, message: error.message ?? 'the upstream refused the content' }
  }
  return { kind: 'unavailable', reason }
}
