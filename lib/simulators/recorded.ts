import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { Simulator } from './server.ts'
import {
  type Reply,
  servedSeconds,
  startTaskUpstream,
  type TaskUpstreamOptions,
  type TaskView,
  type TaskWire,
} from './task-upstream.ts'
import type { SubmitRefusal } from './video-magic-words.ts'

const request = z.object({ method: z.string(), path: z.string(), body: z.record(z.string(), z.unknown()).optional() })
const response = z.object({ status: z.number(), body: z.unknown() })
const exchange = z.object({ request, response })

/**
 * Exchanges with a real upstream about one task, and its refusal of a bad request. `submit` has a body with every field that the
 * provider may be sent; the success has the url of an MP4 file.
 */
const recordingSchema = z.object({
  submit: exchange,
  ...{ waiting: exchange, running: exchange, succeeded: exchange, failed: exchange, unknown: exchange },
  refused: exchange,
  /** A cancel that works, and the poll after it; absent where tasks cannot be cancelled. */
  cancel: exchange.optional(),
  cancelled: exchange.optional(),
})

/** A recording of {@link startRecordedSimulator}. */
export type Recording = z.infer<typeof recordingSchema>

/**
 * Starts the simulation of a provider by replies that were recorded. Ids and urls of videos are replaced; everything else is said as it
 * was recorded, so only the magic prompts that change no words work.
 * @param recorded the content of a recording.
 * @throws ZodError for anything else. Rejects if the port is taken.
 */
export async function startRecordedSimulator(recorded: unknown, options: TaskUpstreamOptions = {}): Promise<Simulator> {
  return await startTaskUpstream(options, recordedWire(recordingSchema.parse(recorded)))
}

const detailsSchema = z.object({ ratio: z.string(), seconds: z.number() })
type Details = z.infer<typeof detailsSchema>

const DAY_SECONDS = 24 * 60 * 60
const VIDEO_URL = /^https?:\/\/[^?]+\.mp4(\?|$)/

function recordedWire(recording: Recording): TaskWire<Details> {
  const { submit, waiting, cancel, refused } = recording
  const id = textsOf(submit.response.body).find((text) => text !== '' && waiting.request.path.includes(text)) ?? ''
  const pathOf = ({ request: { method, path } }: z.infer<typeof exchange>) =>
    new RegExp(`^${method} ${path.split(id).map(literally).join('([^/]+)')}$`)
  const replyOf = ({ response: { status, body } }: z.infer<typeof exchange>, taskId: string, url?: string): Reply => ({
    status,
    body: replaced(body, (text) => (text === id ? taskId : VIDEO_URL.test(text) ? url : text)),
  })
  return {
    detailsSchema,
    limitSeconds: DAY_SECONDS,
    retentionSeconds: DAY_SECONDS,
    pollsPerSecond: Number.POSITIVE_INFINITY,
    paths: {
      submit: new RegExp(`^${submit.request.method} ${literally(submit.request.path)}$`),
      poll: pathOf(waiting),
      ...(cancel && { cancel: pathOf(cancel) }),
    },
    validate: ({ body }) =>
      isLike(body, submit.request.body)
        ? { prompt: textsOf(body).join(' '), details: detailsOf(body) }
        : replyOf(refused, ''),
    newId: () => randomUUID(),
    submitted: (task) => replyOf(submit, task.id),
    polled: (task) => replyOf(recording[stateOf(task, recording)] ?? recording.unknown, task.id, task.videoUrl),
    unknownTask: (taskId) => replyOf(recording.unknown, taskId),
    cancel: (taskId, task) =>
      cancel !== undefined && task?.phase === 'waiting'
        ? { ...replyOf(cancel, taskId), effect: 'cancel' }
        : failure(task === undefined ? 404 : 409),
    refuse: (refusal) => (STATUSES[refusal] === undefined ? replyOf(refused, '') : failure(STATUSES[refusal])),
    fail: failure,
  }
}

/** As a part of a regular expression. */
function literally(text: string): string {
  return text.replaceAll(/[^\w/]/g, String.raw`\$&`)
}

/** What is recorded of the phase of a task. */
function stateOf({ phase }: TaskView<Details>, { cancelled }: Recording) {
  if (phase === 'cancelled') {
    return cancelled === undefined ? 'failed' : 'cancelled'
  }
  return phase === 'expired' ? 'unknown' : phase
}

/** Refusals that are no fault of the request, and so are not recorded. */
const STATUSES: Readonly<Partial<Record<SubmitRefusal | 'path', number>>> = {
  ...{ unauthorized: 401, arrears: 402, 'not-open': 403, 'no-model': 404, path: 404 },
  ...{ busy: 429, 'busy:always': 429, 'busy:quota': 402, 'busy:overloaded': 503 },
}

function failure(status: number): Reply {
  return { status, body: { error: { message: `a simulated ${status}` } } }
}

/** Every string in a JSON value. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') {
    return [value]
  }
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : []
}

function replaced(value: unknown, change: (text: string) => string | undefined): unknown {
  if (typeof value === 'string') {
    return change(value)
  }
  if (Array.isArray(value)) {
    return value.map((item) => replaced(item, change))
  }
  return value !== null && typeof value === 'object'
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, replaced(field, change)]))
    : value
}

/** Whether a body has only fields of the recorded one, with values of their types. A list may have any items. */
function isLike(value: unknown, recorded: unknown): boolean {
  if (recorded === null || typeof recorded !== 'object' || Array.isArray(recorded)) {
    return typeof value === typeof recorded && Array.isArray(value) === Array.isArray(recorded)
  }
  const known = new Map(Object.entries(recorded))
  return (
    value !== null &&
    typeof value === 'object' &&
    Object.entries(value).every(([name, field]) => known.has(name) && isLike(field, known.get(name)))
  )
}

/** The clip that fits the body best: a ratio by its form, a length by its name. */
function detailsOf(body: unknown): Details {
  const ratio = textsOf(body).find((text) => /^\d+:\d+$/.test(text)) ?? '16:9'
  const lengths = Object.entries(Object(body)).filter(([name]) => /duration|seconds|length/.test(name))
  return { ratio, seconds: servedSeconds(ratio, Number(lengths[0]?.[1] ?? 5)) }
}
