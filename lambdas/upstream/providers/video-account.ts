import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { UpstreamFailureCode } from '#core/errors.ts'
import { isJsonObject } from '#core/json/parse-json-text.ts'
import { videoProvider } from '#core/providers/registry.ts'
import {
  type ErrorMeaning,
  errorMeaning,
  errorReason,
  isUnknownTask,
  parseJson,
  readUpstreamError,
  refusalCode,
  type UpstreamError,
} from '#core/providers/reply-reading.ts'
import type {
  CancelOutcome,
  SubmitCommand,
  TaskCancel,
  VideoProvider,
  VideoResult,
} from '#core/providers/video-provider.ts'
import type { WholeOutcome, WholeResponse } from '../../platform/http/http-client.ts'
import { retryAfterSeconds } from '../../platform/http/send-once.ts'
import {
  CANCEL_LIMITS,
  createAccountCaller,
  POLL_LIMITS,
  SUBMIT_LIMITS,
  type VideoAccountDependencies,
} from './upstream-http.ts'

/**
 * The outcome of a submit (docs/decisions/0001). Submits are not idempotent upstream:
 * only `busy`, `channel_refused` and `unreachable` may ever be tried again.
 */
export type SubmitOutcome =
  /** The upstream created a task. `text` is its reply, byte for byte. */
  | { readonly kind: 'accepted'; readonly taskId: string; readonly text: string }
  /** The request is at fault (400, 409, 413, 415, 422, other 4xx, content policy): the job fails with the upstream's message. */
  | { readonly kind: 'rejected'; readonly message: string; readonly text: string }
  /** The channel is at fault (401, 402, 403, 404, 405, 410, arrears, unknown or unopened model): another channel may take the job. */
  | { readonly kind: 'channel_refused'; readonly reason: string; readonly code: UpstreamFailureCode }
  /** 429, or 503 with an error body: not accepted; try later or elsewhere. */
  | { readonly kind: 'busy'; readonly reason: string; readonly retryAfterSeconds: number | undefined }
  /** No byte of the request was sent (DNS, refused connection, TLS): try later or elsewhere. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  /** The request may have been accepted, so it is never posted again. */
  | { readonly kind: 'unknown'; readonly reason: string }

/** The outcome of a poll. `text` is the upstream's reply, byte for byte. */
export type PollOutcome =
  /** `isKnownStatus` is false for an undocumented status word: the job goes on, and the word, `statusWord`, is counted. */
  | { readonly kind: 'running'; readonly text: string; readonly isKnownStatus: boolean; readonly statusWord?: string }
  | { readonly kind: 'succeeded'; readonly text: string; readonly result: VideoResult }
  | { readonly kind: 'failed'; readonly text: string; readonly message: string }
  /** The upstream does not know the task (404, P1's `UNKNOWN`). Only several in a row count. */
  | { readonly kind: 'gone'; readonly reason: string }
  /** The state is unknown (429, 5xx, timeout, bad key, not JSON): poll again later. */
  | { readonly kind: 'unavailable'; readonly reason: string }

/**
 * One upstream account. Waiting, retrying and choosing belong to the pipeline.
 * No method throws for anything that an upstream does.
 */
export interface VideoAccount {
  submit(command: SubmitCommand): Promise<SubmitOutcome>
  poll(taskId: string): Promise<PollOutcome>
  /** Asks the upstream to stop a task that has not begun. */
  cancel(taskId: string): Promise<CancelOutcome>
}

/** Opens the account of a channel, whose provider says how to speak to it. */
export function openVideoAccount(channel: VideoChannel, dependencies: VideoAccountDependencies): VideoAccount {
  const provider = videoProvider(channel.provider)
  const { now = Date.now } = dependencies
  const call = createAccountCaller(channel.base_url, dependencies)
  const look = (taskId: string) =>
    call({ method: 'GET', path: provider.taskPath(encodeURIComponent(taskId), channel), limits: POLL_LIMITS })
  return {
    async submit(command) {
      const { readTaskId } = provider
      const request = provider.submit(command, channel)
      const outcome = await call({ ...request, method: 'POST', limits: SUBMIT_LIMITS, readTaskId })
      return submitOutcome(outcome, readTaskId, now())
    },
    async poll(taskId) {
      return pollOutcome(await look(taskId), provider)
    },
    async cancel(taskId) {
      const cancel = provider.cancel(encodeURIComponent(taskId), channel)
      if (cancel === undefined) {
        return 'refused'
      }
      const { decide, ...request } = cancel
      const decided = decide && decideByStatus(await look(taskId), provider, decide)
      return decided ?? cancelOutcome(await call({ ...request, limits: CANCEL_LIMITS }))
    },
  }
}

function decideByStatus(
  found: WholeOutcome,
  { readStatus }: Pick<VideoProvider, 'readStatus'>,
  decide: NonNullable<TaskCancel['decide']>,
): CancelOutcome | undefined {
  const word = found.kind === 'response' && found.status === 200 ? readStatus(parseJson(found.text)) : undefined
  return word === undefined ? 'unknown' : decide(word)
}

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
  readTaskId: VideoProvider['readTaskId'],
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
      return { kind: 'channel_refused', reason, code: refusalCode(reply.status, error) }
    case 'busy': {
      const seconds = retryAfterSeconds(reply.headers['retry-after'], nowUnixMilliseconds)
      return { kind: 'busy', reason, retryAfterSeconds: seconds }
    }
    default:
      return meaning satisfies never
  }
}

/** A JSON object with a status of success. What it says of the task is still to be read. */
type TaskReply = {
  readonly kind: 'task'
  readonly status: number
  readonly text: string
  readonly body: Readonly<Record<string, unknown>>
}

/** The meaning of the reply to a poll. */
export function pollOutcome(outcome: WholeOutcome, provider: PollReader): PollOutcome {
  const task = readPollReply(outcome)
  if (task.kind !== 'task') {
    return task
  }
  const { text, body } = task
  const word = provider.readStatus(body)
  if (word === undefined) {
    return statuslessOutcome(task)
  }
  const status = TASK_STATUSES.find((each) => provider.statuses[each].includes(word))
  switch (status) {
    case 'open':
      return { kind: 'running', text, isKnownStatus: true }
    case 'succeeded':
      return { kind: 'succeeded', text, result: provider.readResult(body) }
    case 'failed':
      return { kind: 'failed', text, message: provider.readFailure(body, word) }
    case 'gone':
      return { kind: 'gone', reason: `task status ${word}` }
    case undefined:
      return { kind: 'running', text, isKnownStatus: false, statusWord: word }
    default:
      return status satisfies never
  }
}

const TASK_STATUSES = ['open', 'succeeded', 'failed', 'gone'] as const
type PollReader = Pick<VideoProvider, 'readStatus' | 'statuses' | 'readResult' | 'readFailure'>

/** Separates a reply about the task from a reply that says nothing of it. */
function readPollReply(outcome: WholeOutcome): TaskReply | PollOutcome {
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
function statuslessOutcome({ status, text, body }: TaskReply): PollOutcome {
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

/**
 * Refusals that do not say that the task runs on. 401, 403, 429: the upstream did not look at the task. 404: the task is missing,
 * whatever the cause. 408: the upstream gave up half-way.
 */
const UNCERTAIN_CANCEL_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 408, 429])

/** The meaning of the reply to a cancel. Only a status of success without an error code is `cancelled`. */
export function cancelOutcome(outcome: WholeOutcome): CancelOutcome {
  if (outcome.kind !== 'response') {
    return 'unknown'
  }
  if (outcome.status >= 200 && outcome.status < 300) {
    return successOutcome(outcome.text)
  }
  const isRefusal = outcome.status >= 400 && outcome.status < 500 && !UNCERTAIN_CANCEL_STATUSES.has(outcome.status)
  return isRefusal ? 'refused' : 'unknown'
}

function successOutcome(text: string): CancelOutcome {
  const body = parseJson(text)
  if (text !== '' && !isJsonObject(body)) {
    return 'unknown'
  }
  return readUpstreamError(body).code === undefined ? 'cancelled' : 'refused'
}
