import { DURATION_SECONDS, RESOLUTIONS, type Resolution } from '#core/catalogue/parameters.ts'
import type { VideoResult } from '#core/jobs/video-job.ts'
import type { WholeOutcome } from '../../http/exchange-whole.ts'
import { decimalText, memberAt, nonBlank, parseJson, reportedQuantity, taskIdText } from '../video/json-reading.ts'
import { readPollReply, statuslessOutcome, type TaskReply } from '../video/poll-reply.ts'
import { upstreamWords } from '../video/upstream-error.ts'
import type { PollOutcome } from '../video/video-provider.ts'

/** Reads the task id from P1's reply to a submit. */
export function p1TaskId(body: unknown): string | undefined {
  return taskIdText(memberAt(body, 'output', 'task_id'))
}

/** The meaning of the reply to P1's task query, which has status 200 for every state of a task, unknown ids included. */
export function p1PollOutcome(outcome: WholeOutcome): PollOutcome {
  const task = readPollReply(outcome)
  return task.kind === 'task' ? outcomeOfTask(task) : task
}

function outcomeOfTask(task: TaskReply): PollOutcome {
  const word = nonBlank(memberAt(task.body, 'output', 'task_status'))?.toUpperCase()
  const { text } = task
  switch (word) {
    case undefined:
      return statuslessOutcome(task)
    case 'PENDING':
    case 'RUNNING':
    case 'SUSPENDED':
      return { kind: 'running', text, isKnownStatus: true }
    case 'SUCCEEDED':
      return { kind: 'succeeded', text, result: resultOfBody(task.body) }
    case 'FAILED':
    case 'CANCELED':
    case 'CANCELLED':
      return { kind: 'failed', text, message: failureMessage(task.body, word) }
    case 'UNKNOWN':
      return { kind: 'gone', reason: 'task status UNKNOWN' }
    default:
      return { kind: 'running', text, isKnownStatus: false, statusWord: word }
  }
}

function failureMessage(body: unknown, word: string): string {
  const said = [memberAt(body, 'output', 'message'), memberAt(body, 'output', 'code'), memberAt(body, 'message')]
  const requestId = nonBlank(memberAt(body, 'request_id'))
  const suffix = requestId === undefined ? '' : ` (request ${requestId})`
  return upstreamWords(said) ?? `the upstream reported ${word}${suffix}`
}

/** Reads what P1's success reply says of the video. */
export function readP1Result(text: string): VideoResult {
  return resultOfBody(parseJson(text))
}

function resultOfBody(body: unknown): VideoResult {
  const usage = memberAt(body, 'usage')
  return {
    videoUrl: nonBlank(memberAt(body, 'output', 'video_url')),
    completionTokens: undefined,
    billableSeconds: reportedQuantity([memberAt(usage, 'duration')]),
    outputSeconds: outputSeconds(usage),
    resolution: resolutionOfHeight(memberAt(usage, 'SR')),
    audio: undefined,
  }
}

/**
 * `usage.duration` is what P1 bills. For an edit it is the sum of input and output, so it is the length of the video only where
 * no input was counted and a video can be that long.
 */
function outputSeconds(usage: unknown): string | undefined {
  const output = decimalText(memberAt(usage, 'output_video_duration'))
  if (output !== undefined && Number(output) > 0) {
    return output
  }
  const billed = decimalText(memberAt(usage, 'duration'))
  const input = Number(decimalText(memberAt(usage, 'input_video_duration')) ?? '0')
  const isLength = input === 0 && Number(billed) > 0 && Number(billed) <= DURATION_SECONDS.max
  return isLength ? billed : undefined
}

/** 720, "720" and "720P" are all 720P. */
function resolutionOfHeight(value: unknown): Resolution | undefined {
  const height = /^(\d+)p?$/i.exec(String(nonBlank(value) ?? decimalText(value)))?.[1]
  return RESOLUTIONS.find((resolution) => resolution === `${height}P`)
}
