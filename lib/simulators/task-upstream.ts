import type * as z from 'zod'
import { clipFor, fileUrl, ResultFiles } from './result-files.ts'
import {
  type Exchange,
  type Headers,
  hasBearer,
  type Simulator,
  type SimulatorPlace,
  type SimulatorRequest,
  startServer,
} from './server.ts'
import { type SimulatedTask, TaskBook } from './task-book.ts'
import { hasMagicWord, type MagicPrompt, parseMagicPrompt, type SubmitRefusal } from './video-magic-words.ts'

/** Behaviour of a whole simulator. Prompts control single tasks (video-magic-words.ts). */
type Behaviour = {
  /** Seconds of every task in the queue, 1 by default. */
  readonly queueSeconds: number
  /** Seconds of every generation, 3 by default: short, and long enough to show every state. */
  readonly runSeconds: number
  /** Polls per second from all callers together; more get a 429. The provider's limit by default. */
  readonly pollsPerSecond: number
}

/** Options of a simulated video provider. */
export type TaskUpstreamOptions = SimulatorPlace & {
  readonly behaviour?: Partial<Behaviour>
  /** A file that keeps tasks across restarts. By default, tasks end with the process. */
  readonly stateFile?: string
}

/** A JSON response. */
export type Reply = { readonly status: number; readonly body: unknown; readonly headers?: Headers }

/** What every dialect keeps of a submit: how its video looks. */
type TaskDetails = { readonly ratio: string; readonly seconds: number }

/** A valid submit. */
export type ValidSubmit<Details> = {
  readonly prompt: string
  readonly details: Details
}

/** A task as a response shows it. */
export type TaskView<Details> = SimulatedTask<Details> & {
  /** Undefined before the success, and for `[no-url]`. */
  readonly videoUrl: string | undefined
  /** Whether the response says a status word that no document lists. */
  readonly isOdd: boolean
}

/** The wire of a provider: its paths, its validation, and the shapes and words of its responses. */
export type TaskWire<Details extends TaskDetails> = {
  /** Details in a state file. */
  readonly detailsSchema: z.ZodType<Details>
  /** Seconds after which the upstream gives up an unfinished task. */
  readonly limitSeconds: number
  /** Seconds after which the upstream forgets a task. */
  readonly retentionSeconds: number
  readonly pollsPerSecond: number
  /** Match `METHOD path`; the first group is the task id. */
  readonly paths: { readonly submit: RegExp; readonly poll: RegExp; readonly cancel?: RegExp }
  readonly validate: (request: SimulatorRequest) => ValidSubmit<Details> | Reply
  readonly newId: (nowMs: number) => string
  readonly submitted: (task: TaskView<Details>) => Reply
  readonly polled: (task: TaskView<Details>) => Reply
  readonly unknownTask: (taskId: string) => Reply
  /** The response to a cancel, and what it does to the task. */
  readonly cancel?: (
    taskId: string,
    task: SimulatedTask<Details> | undefined,
  ) => Reply & { readonly effect?: 'cancel' | 'remove' }
  readonly refuse: (refusal: SubmitRefusal | 'path') => Reply
  /** Any status from 400 to 599. */
  readonly fail: (status: number) => Reply
}

/** Most remembered prompts that `[busy]` has refused once. */
const BUSY_PROMPTS_MAX = 10_000

/** Starts a simulated video provider with a wire. Rejects if the port is taken. */
export async function startTaskUpstream<Details extends TaskDetails>(
  options: TaskUpstreamOptions,
  wire: TaskWire<Details>,
): Promise<Simulator> {
  const upstream = new TaskUpstream(options, wire)
  return startServer(options, (request, exchange) => upstream.handle(request, exchange))
}

class TaskUpstream<Details extends TaskDetails> {
  readonly #apiKey: string | undefined
  readonly #now: () => number
  readonly #wire: TaskWire<Details>
  readonly #tasks: TaskBook<Details>
  readonly #files: ResultFiles
  readonly #polls: RateLimit
  readonly #busyPrompts = new Set<string>()

  constructor({ apiKey, now = Date.now, behaviour, stateFile }: TaskUpstreamOptions, wire: TaskWire<Details>) {
    const { pollsPerSecond, ...pace } = {
      queueSeconds: 1,
      runSeconds: 3,
      pollsPerSecond: wire.pollsPerSecond,
      ...behaviour,
    }
    const { limitSeconds, retentionSeconds, detailsSchema } = wire
    this.#apiKey = apiKey
    this.#now = now
    this.#wire = wire
    this.#tasks = new TaskBook({ ...pace, now, limitSeconds, retentionSeconds, detailsSchema, stateFile })
    this.#polls = new RateLimit(pollsPerSecond, now)
    this.#files = new ResultFiles(now, (taskId) => {
      const task = this.#tasks.find(taskId)
      return task && { ...task.details, trick: task.magic.resultTrick }
    })
  }

  async handle(request: SimulatorRequest, exchange: Exchange): Promise<void> {
    if (await this.#files.serve(request, exchange)) {
      return
    }
    const call = `${request.method} ${new URL(request.path, exchange.origin).pathname}`
    const idIn = (path: RegExp | undefined) => path?.exec(call)?.[1]
    const { submit, poll, cancel } = this.#wire.paths
    const [polledId, cancelledId] = [idIn(poll), idIn(cancel)]
    if (!hasBearer(request, this.#apiKey)) {
      sendReply(exchange, this.#wire.refuse('unauthorized'))
    } else if (submit.test(call)) {
      await this.#submit(request, exchange)
    } else if (cancelledId !== undefined) {
      sendReply(exchange, this.#cancel(cancelledId))
    } else if (polledId !== undefined) {
      sendReply(exchange, this.#polls.take() ? this.#poll(polledId, exchange) : this.#wire.refuse('busy'))
    } else {
      sendReply(exchange, this.#wire.refuse('path'))
    }
  }

  async #submit(request: SimulatorRequest, exchange: Exchange): Promise<void> {
    const { plain, words } = withoutMagicModel(request)
    const submit = this.#wire.validate(plain)
    if ('status' in submit) {
      sendReply(exchange, submit)
      return
    }
    const prompt = hasMagicWord(submit.prompt) ? submit.prompt : `${submit.prompt}${words}`
    const magic = parseMagicPrompt(prompt)
    const refusal = this.#refusal(prompt, magic)
    if (magic.submitSilence === 'reset') {
      exchange.reset()
    } else if (magic.submitSilence === undefined && refusal !== undefined) {
      sendReply(exchange, refusal)
    } else if (magic.submitSilence === undefined) {
      const submittedAtMs = this.#now()
      const id = this.#wire.newId(submittedAtMs)
      this.#tasks.add({ id, submittedAtMs, prompt, details: submit.details })
      const task = this.#tasks.find(id)
      // The response always shows the initial state, even without a queue.
      const reply = task ? this.#wire.submitted(viewOf({ ...task, phase: 'waiting' }, exchange)) : this.#wire.fail(500)
      await exchange.wait(magic.submitDelaySeconds * 1000)
      sendReply(exchange, reply)
    }
  }

  #refusal(prompt: string, { submitErrorStatus, refusal }: MagicPrompt): Reply | undefined {
    if (submitErrorStatus !== undefined) {
      return this.#wire.fail(submitErrorStatus)
    }
    if (refusal === 'busy') {
      if (this.#busyPrompts.has(prompt)) {
        return undefined
      }
      if (this.#busyPrompts.size >= BUSY_PROMPTS_MAX) {
        this.#busyPrompts.clear()
      }
      this.#busyPrompts.add(prompt)
    }
    return refusal && this.#wire.refuse(refusal)
  }

  #poll(taskId: string, exchange: Exchange): Reply {
    const task = this.#tasks.find(taskId)
    const verdict = this.#tasks.poll(taskId)
    if (task === undefined || verdict === 'unknown') {
      return this.#wire.unknownTask(taskId)
    }
    const isOdd = verdict === 'odd-status'
    return verdict === 'poll-errors' ? this.#wire.fail(500) : this.#wire.polled({ ...viewOf(task, exchange), isOdd })
  }

  #cancel(taskId: string): Reply {
    const reply = this.#wire.cancel?.(taskId, this.#tasks.find(taskId))
    if (reply?.effect !== undefined) {
      this.#tasks[reply.effect](taskId)
    }
    return reply ?? this.#wire.refuse('path')
  }
}

/** A model id such as `wide-t2v [fail]` asks for the failure in place of the prompt. */
function withoutMagicModel(request: SimulatorRequest): { readonly plain: SimulatorRequest; readonly words: string } {
  const { body } = request
  const [, model, words = ''] = /^([^ []+)( ?\[.*)$/.exec(String(Object(body).model)) ?? []
  return { plain: model === undefined ? request : { ...request, body: { ...Object(body), model } }, words }
}

/** Presigned result urls are valid for a day. */
const RESULT_TTL_MS = 24 * 60 * 60 * 1000

function viewOf<Details extends TaskDetails>(task: SimulatedTask<Details>, { origin }: Exchange): TaskView<Details> {
  const hasUrl = task.phase === 'succeeded' && task.magic.resultTrick !== 'no-url'
  const videoUrl = hasUrl ? fileUrl(origin, `/results/${task.id}.mp4`, task.endsAtMs + RESULT_TTL_MS) : undefined
  return { ...task, videoUrl, isOdd: false }
}

function sendReply(exchange: Exchange, { status, body, headers }: Reply): void {
  exchange.send(status, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** Allows `perSecond` calls a second, with a burst of the same size but at least one. Infinity allows all calls. */
class RateLimit {
  readonly #perSecond: number
  readonly #now: () => number
  #tokens: number
  #filledAtMs: number

  constructor(perSecond: number, now: () => number) {
    this.#perSecond = perSecond
    this.#now = now
    this.#tokens = Math.max(1, perSecond)
    this.#filledAtMs = now()
  }

  /** Whether the call is allowed. */
  take(): boolean {
    if (!Number.isFinite(this.#perSecond)) {
      return true
    }
    const nowMs = this.#now()
    const refilled = this.#tokens + (Math.max(0, nowMs - this.#filledAtMs) / 1000) * this.#perSecond
    this.#tokens = Math.min(Math.max(1, this.#perSecond), refilled)
    this.#filledAtMs = nowMs
    if (this.#tokens < 1) {
      return false
    }
    this.#tokens -= 1
    return true
  }
}

/** The length of the clip that a task gets, because no other length is at hand. */
export function servedSeconds(ratio: string, seconds: number): number {
  return clipFor({ ratio, seconds }).seconds
}

/** `YYYY-MM-DD HH:MM:SS.mmm` in UTC+8 without a zone. */
export function utc8Time(timeMs: number): string {
  const utc8OffsetMs = 8 * 60 * 60 * 1000
  return new Date(timeMs + utc8OffsetMs).toISOString().replace('T', ' ').replace('Z', '')
}

/** Whole seconds since 1970. */
export function unixSeconds(timeMs: number): number {
  return Math.floor(timeMs / 1000)
}
