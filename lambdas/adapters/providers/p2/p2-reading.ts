import type { WholeOutcome } from '../../http/exchange-whole.ts'
import { firstOf, memberAt, nonBlank, taskIdText } from '../video/json-reading.ts'
import { readPollReply, statuslessOutcome, type TaskReply } from '../video/poll-reply.ts'
import { readUpstreamError, upstreamWords } from '../video/upstream-error.ts'
import type { PollOutcome } from '../video/video-provider.ts'
import { p2Result, taskViews } from './p2-result.ts'

type Progress = 'waiting' | 'running' | 'succeeded' | 'failed'

/** Every status word of P2 and the public shapes of its proxies, in lower case. */
const STATUS_WORDS: ReadonlyMap<string, Progress> = new Map([
  ...['pending', 'queued', 'submitted', 'not_start', 'preparing'].map((word) => [word, 'waiting'] as const),
  ...['running', 'processing', 'in_progress', 'generating'].map((word) => [word, 'running'] as const),
  ...['succeeded', 'success', 'completed'].map((word) => [word, 'succeeded'] as const),
  ...['failed', 'failure', 'error', 'cancelled', 'canceled', 'expired', 'timeout'].map(
    (word) => [word, 'failed'] as const,
  ),
])

/** Reads the task id from the reply to a submit, on any P2 route. */
export function p2TaskId(body: unknown): string | undefined {
  const data = memberAt(body, 'data')
  const places = [
    memberAt(body, 'task_id'),
    memberAt(body, 'id'),
    memberAt(data, 'task_id'),
    memberAt(data, 'id'),
    data,
  ]
  return firstOf(places.map(taskIdText))
}

/** Reads the status word of a task, in lower case; undefined when there is none. The first listed word wins over any other. */
export function p2StatusWord(body: unknown): string | undefined {
  const words = taskViews(body)
    .map((view) => nonBlank(memberAt(view, 'status'))?.trim().toLowerCase())
    .filter((word) => word !== undefined)
  const listed = words.filter((word) => STATUS_WORDS.has(word))
  // A "success" around another status word belongs to the envelope: the call succeeded, and the task may still run.
  return (listed[0] === 'success' ? listed[1] : undefined) ?? listed[0] ?? words[0]
}

/** The meaning of the reply to a poll, on any P2 route. Failed tasks have HTTP status 200. */
export function p2PollOutcome(outcome: WholeOutcome): PollOutcome {
  const task = readPollReply(outcome)
  return task.kind === 'task' ? outcomeOfTask(task) : task
}

function outcomeOfTask(task: TaskReply): PollOutcome {
  const { text, body } = task
  const word = p2StatusWord(body)
  if (word === undefined) {
    return statuslessOutcome(task)
  }
  const progress = STATUS_WORDS.get(word)
  switch (progress) {
    case 'succeeded':
      return { kind: 'succeeded', text, result: p2Result(body) }
    case 'failed':
      return { kind: 'failed', text, message: failureMessage(body, word) }
    case 'waiting':
    case 'running':
      return { kind: 'running', text, isKnownStatus: true }
    case undefined:
      return { kind: 'running', text, isKnownStatus: false, statusWord: word }
    default:
      return progress satisfies never
  }
}

/** The message of the failure itself comes before that of an envelope, which may say that the call succeeded. */
function failureMessage(body: unknown, word: string): string {
  const views = taskViews(body)
  const causes = views.flatMap((view) => [
    memberAt(view, 'error'),
    memberAt(view, 'error', 'message'),
    memberAt(view, 'fail_reason'),
    memberAt(view, 'failure_reason'),
    memberAt(view, 'failure_reason', 'message'),
  ])
  const isPraise = memberAt(body, 'code') !== undefined && readUpstreamError(body).code === undefined
  const messages = (isPraise ? views.slice(1) : views).map((view) => memberAt(view, 'message'))
  const codes = views.map((view) => memberAt(view, 'error', 'code'))
  return upstreamWords([...causes, ...messages, ...codes]) ?? `the upstream reported ${word}`
}
