import { isJsonObject } from '#core/json/json-object.ts'
import { retryAfterSeconds } from '../../http/retry-after.ts'
import type { UpstreamAnswer, UpstreamResponse } from '../../http/upstream-exchange.ts'
import { parseJson } from './json-reading.ts'
import {
  type ErrorMeaning,
  errorMeaning,
  errorReason,
  readUpstreamError,
  type UpstreamError,
} from './upstream-error.ts'
import type { SubmitOutcome } from './video-provider.ts'

/** Where one upstream puts the id of a new task. */
export type TaskIdReader = (body: unknown) => string | undefined

type Refusal = {
  readonly answer: UpstreamResponse
  readonly error: UpstreamError
  readonly nowUnixMilliseconds: number
}

/** The key, the account, the path or the model of this channel: another channel may still take the job. */
const CHANNEL_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 410])

/** Refusals in which the upstream, or something before it, gave up half-way: the task may exist. */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([408, 499])

/** What an answer to a submit means (docs/decisions/0017). */
export function submitOutcome(
  answer: UpstreamAnswer,
  readTaskId: TaskIdReader,
  nowUnixMilliseconds: number,
): SubmitOutcome {
  if (answer.kind === 'not_sent') {
    return { kind: 'unreachable', reason: answer.reason }
  }
  if (answer.kind === 'no_answer') {
    return { kind: 'unknown', reason: answer.reason }
  }
  const body = parseJson(answer.text)
  const refusal = { answer, error: readUpstreamError(body), nowUnixMilliseconds }
  const taskId = readTaskId(body)
  return answer.status >= 200 && answer.status < 300
    ? outcomeOfSuccess(refusal, taskId)
    : outcomeOfRefusal(refusal, { taskId, isObject: isJsonObject(body) })
}

/**
 * Some upstreams refuse with a status of success. With a task id, a code can at most end the job: whatever would post
 * it again is out, since the task may run.
 */
function outcomeOfSuccess(refusal: Refusal, taskId: string | undefined): SubmitOutcome {
  const { answer, error } = refusal
  const meaning = errorMeaning(error)
  const isRejected = meaning === 'request' || meaning === 'content_policy'
  if (taskId !== undefined && !isRejected) {
    return { kind: 'accepted', taskId, text: answer.text }
  }
  return meaning === undefined
    ? { kind: 'unknown', reason: `${errorReason(answer.status, error)} without a task id` }
    : outcomeOfMeaning(refusal, meaning)
}

/** A refusal that names a task contradicts itself, and the task may run: nothing that would post it again is believed. */
function outcomeOfRefusal(
  refusal: Refusal,
  { taskId, isObject }: { taskId: string | undefined; isObject: boolean },
): SubmitOutcome {
  const outcome = outcomeOfStatus(refusal, isObject)
  return taskId !== undefined && (outcome.kind === 'busy' || outcome.kind === 'channel_refused')
    ? { kind: 'unknown', reason: `${outcome.reason} with a task id` }
    : outcome
}

function outcomeOfStatus(refusal: Refusal, isObject: boolean): SubmitOutcome {
  const { answer, error } = refusal
  const { status } = answer
  const hasErrorBody = isObject && (error.code !== undefined || error.message !== undefined)
  if (status === 503 && hasErrorBody) {
    return outcomeOfMeaning(refusal, 'busy')
  }
  if (status < 400 || status >= 500 || UNCERTAIN_STATUSES.has(status)) {
    return { kind: 'unknown', reason: errorReason(status, error) }
  }
  const meaning = errorMeaning(error)
  if (meaning !== undefined && meaning !== 'request') {
    return outcomeOfMeaning(refusal, meaning)
  }
  if (CHANNEL_STATUSES.has(status)) {
    return outcomeOfMeaning(refusal, 'channel')
  }
  return outcomeOfMeaning(refusal, status === 429 ? 'busy' : 'request')
}

function outcomeOfMeaning({ answer, error, nowUnixMilliseconds }: Refusal, meaning: ErrorMeaning): SubmitOutcome {
  const reason = errorReason(answer.status, error)
  switch (meaning) {
    case 'content_policy':
    case 'request': {
      const message = error.message ?? `the upstream refused the request (${reason})`
      return { kind: 'rejected', message, text: answer.text }
    }
    case 'channel':
      return { kind: 'channel_refused', reason }
    case 'busy': {
      const seconds = retryAfterSeconds(answer.headers['retry-after'], nowUnixMilliseconds)
      return { kind: 'busy', reason, retryAfterSeconds: seconds }
    }
    default:
      return meaning satisfies never
  }
}
