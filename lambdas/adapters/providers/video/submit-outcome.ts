import { isJsonObject } from '#core/json/json-object.ts'
import type { WholeOutcome, WholeResponse } from '../../http/exchange-whole.ts'
import { retryAfterSeconds } from '../../http/retry-after.ts'
import { parseJson } from './json-reading.ts'
import {
  type ErrorMeaning,
  errorMeaning,
  errorReason,
  readUpstreamError,
  type UpstreamError,
} from './upstream-error.ts'
import type { SubmitOutcome } from './video-provider.ts'

/** Reads the id of a new task from a parsed reply. */
export type TaskIdReader = (body: unknown) => string | undefined

type Refusal = {
  readonly reply: WholeResponse
  readonly error: UpstreamError
  readonly nowUnixMilliseconds: number
}

/** The fault lies with the key, account, path or model of this channel: another channel may still take the job. */
const CHANNEL_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 404, 405, 410])

/** The upstream, or a proxy in front of it, gave up half-way: the task may exist. */
const UNCERTAIN_STATUSES: ReadonlySet<number> = new Set([408, 499])

/** The meaning of the reply to a submit (docs/decisions/0001). */
export function submitOutcome(
  outcome: WholeOutcome,
  readTaskId: TaskIdReader,
  nowUnixMilliseconds: number,
): SubmitOutcome {
  if (outcome.kind === 'not_sent') {
    return { kind: 'unreachable', reason: outcome.reason }
  }
  if (outcome.kind === 'no_response') {
    return { kind: 'unknown', reason: outcome.reason }
  }
  const body = parseJson(outcome.text)
  const refusal = { reply: outcome, error: readUpstreamError(body), nowUnixMilliseconds }
  const taskId = readTaskId(body)
  return outcome.status >= 200 && outcome.status < 300
    ? outcomeOfSuccess(refusal, taskId)
    : outcomeOfRefusal(refusal, { taskId, isObject: isJsonObject(body) })
}

/**
 * Some upstreams refuse with a status of success. Beside a task id, an error code can only end the job: the task may be running,
 * so nothing may post it again.
 */
function outcomeOfSuccess(refusal: Refusal, taskId: string | undefined): SubmitOutcome {
  const { reply, error } = refusal
  const meaning = errorMeaning(error)
  const isRejected = meaning === 'request' || meaning === 'content_policy'
  if (taskId !== undefined && !isRejected) {
    return { kind: 'accepted', taskId, text: reply.text }
  }
  return meaning === undefined
    ? { kind: 'unknown', reason: `${errorReason(reply.status, error)} without a task id` }
    : outcomeOfMeaning(refusal, meaning)
}

/** A refusal that names a task contradicts itself. The task may be running, so no outcome that would post it again is believed. */
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
  const { reply, error } = refusal
  const { status } = reply
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

function outcomeOfMeaning({ reply, error, nowUnixMilliseconds }: Refusal, meaning: ErrorMeaning): SubmitOutcome {
  const reason = errorReason(reply.status, error)
  switch (meaning) {
    case 'content_policy':
    case 'request': {
      const message = error.message ?? `the upstream refused the request (${reason})`
      return { kind: 'rejected', message, text: reply.text }
    }
    case 'channel':
      return { kind: 'channel_refused', reason }
    case 'busy': {
      const seconds = retryAfterSeconds(reply.headers['retry-after'], nowUnixMilliseconds)
      return { kind: 'busy', reason, retryAfterSeconds: seconds }
    }
    default:
      return meaning satisfies never
  }
}
