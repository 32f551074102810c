import { hasBearer } from '../shared/bearer.ts'
import type { SimulatorOptions } from '../shared/behaviour.ts'
import { parseMagicPrompt } from '../shared/magic-prompt.ts'
import { openAccount, type SimulatedAccount } from '../shared/simulated-account.ts'
import type { SimulatedTask } from '../shared/simulated-task.ts'
import {
  type Simulator,
  type SimulatorRequest,
  type SimulatorResponse,
  startSimulatorServer,
} from '../shared/simulator-server.ts'
import { delayed, SubmitTricks } from '../shared/submit-tricks.ts'
import { P2_PROBLEMS, p2Answer, p2Failure, p2Problem, p2Refusal } from './p2-errors.ts'
import { p2ListBody } from './p2-list.ts'
import { EXECUTION_EXPIRES_AFTER_SECONDS, p2State } from './p2-state.ts'
import { p2TaskId } from './p2-task-id.ts'
import { type P2Details, p2DetailsSchema, validateP2Submit } from './p2-validation.ts'

const TASKS_PATH = '/api/v3/contents/generations/tasks'
const TASK_PATH = /^\/api\/v3\/contents\/generations\/tasks\/([^/]+)$/

/** P2 keeps a task for a week. */
const RETENTION_SECONDS = 7 * 24 * 60 * 60

/** Starts a simulated P2, for both the direct and the international route. Rejects if the port is taken. */
export async function startP2Simulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const p2 = new P2Account(options)
  return startSimulatorServer({
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    handle: (request, baseUrl) => p2.answer(request, baseUrl),
  })
}

class P2Account {
  readonly #apiKey: string | undefined
  readonly #account: SimulatedAccount<P2Details>
  readonly #tricks = new SubmitTricks({ refused: p2Refusal, failed: p2Failure })

  constructor(options: SimulatorOptions) {
    this.#apiKey = options.apiKey
    this.#account = openAccount(options, { detailsSchema: p2DetailsSchema, retentionSeconds: RETENTION_SECONDS })
  }

  answer(request: SimulatorRequest, baseUrl: string): SimulatorResponse {
    const result = this.#account.results.answer(request, baseUrl)
    if (result !== undefined) {
      return result
    }
    if (!hasBearer(request.headers, this.#apiKey)) {
      return p2Problem(P2_PROBLEMS.key)
    }
    const url = new URL(request.path, baseUrl)
    const taskId = TASK_PATH.exec(url.pathname)?.[1]
    if (url.pathname !== TASKS_PATH && taskId === undefined) {
      return p2Problem(P2_PROBLEMS.notFound)
    }
    if (request.method === 'POST' && taskId === undefined) {
      return this.#submit(request)
    }
    if (request.method === 'DELETE' && taskId !== undefined) {
      return this.#delete(taskId)
    }
    if (request.method !== 'GET') {
      return p2Problem(P2_PROBLEMS.notFound)
    }
    if (!this.#account.polls.take()) {
      return p2Problem(P2_PROBLEMS.rate)
    }
    return taskId === undefined ? this.#list(url.searchParams, baseUrl) : this.#poll(taskId, baseUrl)
  }

  #submit(request: SimulatorRequest): SimulatorResponse {
    const submit = validateP2Submit(request.body)
    switch (submit.kind) {
      case 'unknown_model':
        return p2Problem(P2_PROBLEMS.model(submit.model))
      case 'missing':
        return p2Problem({
          status: 400,
          code: 'MissingParameter',
          message: `The request failed because it is missing \`${submit.param}\` parameter.`,
          param: submit.param,
        })
      case 'invalid':
        return p2Problem({ status: 400, code: 'InvalidParameter', message: submit.reason, param: submit.param })
      case 'valid':
        return this.#accept(submit.prompt, submit.details)
      default:
        return submit satisfies never
    }
  }

  #accept(prompt: string, details: P2Details): SimulatorResponse {
    const magic = parseMagicPrompt(prompt)
    const trick = this.#tricks.answer(prompt, magic)
    if (trick !== undefined) {
      return trick
    }
    const submittedAtMs = this.#account.now()
    const id = p2TaskId(submittedAtMs)
    const limitSeconds = details.parameters.execution_expires_after ?? EXECUTION_EXPIRES_AFTER_SECONDS
    this.#account.tasks.add({ id, prompt, submittedAtMs, limitSeconds, details })
    return delayed(p2Answer(200, { id }), magic)
  }

  #poll(taskId: string, baseUrl: string): SimulatorResponse {
    const task = this.#account.tasks.find(taskId)
    const verdict = this.#account.tasks.poll(taskId)
    if (task === undefined || verdict === 'unknown') {
      return p2Problem(P2_PROBLEMS.notFound)
    }
    if (verdict === 'poll-errors') {
      return p2Problem(P2_PROBLEMS.internal)
    }
    return p2Answer(200, this.#render(task, baseUrl, verdict === 'odd-status' ? 'warming_up' : undefined))
  }

  #list(query: URLSearchParams, baseUrl: string): SimulatorResponse {
    const items = this.#account.tasks.list().map((task) => this.#render(task, baseUrl, undefined))
    return p2Answer(200, p2ListBody(items, query))
  }

  #delete(taskId: string): SimulatorResponse {
    const task = this.#account.tasks.find(taskId)
    if (task === undefined) {
      return p2Problem(P2_PROBLEMS.notFound)
    }
    if (task.phase === 'running' || task.phase === 'cancelled') {
      return p2Problem({
        status: 409,
        code: task.phase === 'running' ? 'InvalidAction.RunningTaskDeletion' : 'InvalidAction.CancelledTaskDeletion',
        message: `Cannot delete task \`${taskId}\` because it is currently ${task.phase}.`,
      })
    }
    if (!this.#account.tasks.cancel(taskId)) {
      this.#account.tasks.remove(taskId)
    }
    return p2Answer(200, {})
  }

  #render(task: SimulatedTask<P2Details>, baseUrl: string, oddStatus: string | undefined): Record<string, unknown> {
    const expiresAtMs = task.endsAtMs + this.#account.behaviour.resultTtlSeconds * 1000
    const urlOf = (extension: 'mp4' | 'png') =>
      this.#account.results.url({ baseUrl, taskId: task.id, extension, expiresAtMs })
    const hasUrls = task.phase === 'succeeded' && task.magic.resultTrick !== 'no-url'
    return p2State(task, {
      behaviour: this.#account.behaviour,
      urls: hasUrls ? { video: urlOf('mp4'), lastFrame: urlOf('png') } : undefined,
      ...(oddStatus !== undefined && { oddStatus }),
    })
  }
}
