import { isJsonObject } from '#core/json/json-object.ts'
import type { WholeOutcome } from '../../http/exchange-whole.ts'
import { parseJson } from './json-reading.ts'
import { errorMeaning, errorReason, isUnknownTask, readUpstreamError } from './upstream-error.ts'
import type { PollOutcome } from './video-provider.ts'

/** A JSON object with a status of success. What it says of the task is still to be read. */
export type TaskReply = {
  readonly kind: 'task'
  readonly status: number
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** Separates a reply about the task from a reply that says nothing of it. */
export function readPollReply(outcome: WholeOutcome): TaskReply | PollOutcome {
  if (outcome.kind !== 'response') {
    return { kind: 'unavailable', reason: outcome.reason }
  }
  const { status, text } = outcome
  const body = parseJson(text)
  const error = readUpstreamError(body)
  const reason = errorReason(status, error)
  const isRefusal = status >= 400 && status < 500
  if (status === 404 || (isRefusal && isUnknownTask(error))) {
    return { kind: 'gone', reason }
  }
  if (status < 200 || status >= 300) {
    return { kind: 'unavailable', reason }
  }
  return isJsonObject(body)
    ? { kind: 'task', status, text, body }
    : { kind: 'unavailable', reason: `${reason} is not a JSON object` }
}

/** The meaning of a task reply without a status word: an envelope around an error, or nothing that can be read. */
export function statuslessOutcome({ status, text, body }: TaskReply): PollOutcome {
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
