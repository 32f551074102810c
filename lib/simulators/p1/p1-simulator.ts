import { randomUUID } from 'node:crypto'
import { hasBearer } from '../shared/bearer.ts'
import { P1_POLLS_PER_SECOND, type SimulatorOptions } from '../shared/behaviour.ts'
import { parseMagicPrompt } from '../shared/magic-prompt.ts'
import { openAccount, type SimulatedAccount } from '../shared/simulated-account.ts'
import {
  type Simulator,
  type SimulatorRequest,
  type SimulatorResponse,
  startSimulatorServer,
} from '../shared/simulator-server.ts'
import { delayed, SubmitTricks } from '../shared/submit-tricks.ts'
import { p1ListBody } from './p1-list.ts'
import { P1_PROBLEMS, p1Answer, p1BareState, p1Failure, p1Problem, p1Refusal, p1State } from './p1-responses.ts'
import { type P1Details, p1DetailsSchema, validateP1Submit } from './p1-validation.ts'

/** Options of a simulated P1. */
export type P1SimulatorOptions = SimulatorOptions & {
  /** The header for asynchronous mode, `X-Provider-Async` by default; its value must be `enable`. */
  readonly asyncHeader?: string
}

const SUBMIT_PATH = '/api/v1/services/aigc/video-generation/video-synthesis'
const TASK_PATH = /^\/api\/v1\/tasks\/([^/]+)$/
const CANCEL_PATH = /^\/api\/v1\/tasks\/([^/]+)\/cancel$/
const LIST_PATH = /^\/api\/v1\/tasks\/?$/

/** P1 keeps a task for a day. */
const RETENTION_SECONDS = 24 * 60 * 60

/** Starts a simulated P1. Rejects if the port is taken. */
export async function startP1Simulator(options: P1SimulatorOptions = {}): Promise<Simulator> {
  const p1 = new P1Account(options)
  return startSimulatorServer({
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    handle: (request, baseUrl) => p1.answer(request, baseUrl),
  })
}

class P1Account {
  readonly #options: P1SimulatorOptions
  readonly #account: SimulatedAccount<P1Details>
  readonly #tricks = new SubmitTricks({ refused: p1Refusal, failed: p1Failure })

  constructor(options: P1SimulatorOptions) {
    this.#options = options
    this.#account = openAccount(options, {
      detailsSchema: p1DetailsSchema,
      retentionSeconds: RETENTION_SECONDS,
      behaviour: { pollsPerSecond: P1_POLLS_PER_SECOND },
    })
  }

  answer(request: SimulatorRequest, baseUrl: string): SimulatorResponse {
    const result = this.#account.results.answer(request, baseUrl)
    if (result !== undefined) {
      return result
    }
    if (!hasBearer(request.headers, this.#options.apiKey)) {
      return p1Problem(P1_PROBLEMS.key)
    }
    const url = new URL(request.path, baseUrl)
    if (request.method === 'POST' && url.pathname === SUBMIT_PATH) {
      return this.#submit(request)
    }
    const cancelledId = CANCEL_PATH.exec(url.pathname)?.[1]
    if (request.method === 'POST' && cancelledId !== undefined) {
      return this.#cancel(cancelledId)
    }
    const isList = LIST_PATH.test(url.pathname)
    const taskId = TASK_PATH.exec(url.pathname)?.[1]
    if (request.method !== 'GET' || (!isList && taskId === undefined)) {
      return p1Problem(P1_PROBLEMS.path)
    }
    if (!this.#account.polls.take()) {
      return p1Problem(P1_PROBLEMS.rate)
    }
    return taskId === undefined
      ? p1Answer(200, p1ListBody(this.#account.tasks.list(), url.searchParams))
      : this.#poll(taskId, baseUrl)
  }

  #submit(request: SimulatorRequest): SimulatorResponse {
    const asyncHeader = (this.#options.asyncHeader ?? 'X-Provider-Async').toLowerCase()
    if (request.headers[asyncHeader] !== 'enable') {
      return p1Problem(P1_PROBLEMS.synchronous)
    }
    const submit = validateP1Submit(request.body)
    if (submit.kind === 'unknown_model') {
      return p1Problem(P1_PROBLEMS.model)
    }
    if (submit.kind === 'invalid') {
      return p1Problem(P1_PROBLEMS.parameter, submit.reason)
    }
    const magic = parseMagicPrompt(submit.prompt)
    const trick = this.#tricks.answer(submit.prompt, magic)
    if (trick !== undefined) {
      return trick
    }
    const id = randomUUID()
    this.#account.tasks.add({
      id,
      prompt: submit.prompt,
      submittedAtMs: this.#account.now(),
      limitSeconds: RETENTION_SECONDS,
      details: submit.details,
    })
    const body = { output: { task_status: 'PENDING', task_id: id }, request_id: randomUUID() }
    return delayed(p1Answer(200, body), magic)
  }

  #poll(taskId: string, baseUrl: string): SimulatorResponse {
    const task = this.#account.tasks.find(taskId)
    const verdict = this.#account.tasks.poll(taskId)
    if (task === undefined || verdict === 'unknown') {
      return p1Answer(200, p1BareState(taskId, 'UNKNOWN'))
    }
    if (verdict === 'poll-errors') {
      return p1Problem(P1_PROBLEMS.internal)
    }
    const expiresAtMs = task.endsAtMs + this.#account.behaviour.resultTtlSeconds * 1000
    const hasUrl = task.phase === 'succeeded' && task.magic.resultTrick !== 'no-url'
    const state = p1State(task, {
      behaviour: this.#account.behaviour,
      videoUrl: hasUrl ? this.#account.results.url({ baseUrl, taskId, extension: 'mp4', expiresAtMs }) : undefined,
      ...(verdict === 'odd-status' && { oddStatus: 'WARMING_UP' }),
    })
    return p1Answer(200, state)
  }

  #cancel(taskId: string): SimulatorResponse {
    return this.#account.tasks.cancel(taskId)
      ? p1Answer(200, { request_id: randomUUID() })
      : p1Problem(P1_PROBLEMS.notPending)
  }
}
