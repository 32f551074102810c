import { randomBytes } from 'node:crypto'
import { EXECUTION_EXPIRES_AFTER_SECONDS } from '../p2/p2-state.ts'
import { type P2Details, p2DetailsSchema } from '../p2/p2-validation.ts'
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
import {
  noChannel,
  PROXY_PROBLEMS,
  proxyFailure,
  proxyInvalid,
  proxyProblem,
  proxyRefusal,
  proxyResponse,
} from './p2-proxy-errors.ts'
import type { ProxyRendering } from './p2-proxy-parts.ts'
import { proxyPollBody, proxySubmitBody } from './p2-proxy-shapes.ts'
import { validateProxySubmit } from './p2-proxy-validation.ts'

const SUBMIT_PATH = '/v1/video/generations'
/** The unified shape comes from a service with `/v1/tasks/`; both paths work for every shape. */
const TASK_PATH = /^\/v1\/(?:video\/generations|tasks)\/([^/]+)$/

/** The same as P2. */
const RETENTION_SECONDS = 7 * 24 * 60 * 60

/** Starts a simulated third-party proxy in front of P2. Rejects if the port is taken. */
export async function startP2ProxySimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const proxy = new P2Proxy(options)
  return startSimulatorServer({
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    handle: (request, baseUrl) => proxy.answer(request, baseUrl),
  })
}

class P2Proxy {
  readonly #apiKey: string | undefined
  readonly #account: SimulatedAccount<P2Details>
  readonly #tricks = new SubmitTricks({ refused: proxyRefusal, failed: proxyFailure })

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
      return proxyProblem(PROXY_PROBLEMS.key)
    }
    const { pathname } = new URL(request.path, baseUrl)
    const taskId = TASK_PATH.exec(pathname)?.[1]
    if (request.method === 'POST' && pathname === SUBMIT_PATH) {
      return this.#submit(request, baseUrl)
    }
    if (request.method !== 'GET' || taskId === undefined) {
      return proxyProblem(PROXY_PROBLEMS.notFound)
    }
    return this.#account.polls.take() ? this.#poll(taskId, baseUrl) : proxyProblem(PROXY_PROBLEMS.rate)
  }

  #submit(request: SimulatorRequest, baseUrl: string): SimulatorResponse {
    const submit = validateProxySubmit(request.body)
    switch (submit.kind) {
      case 'unknown_model':
        return proxyProblem(noChannel(submit.model))
      case 'missing':
        return proxyInvalid(submit.param, `${submit.param} is missing`)
      case 'invalid':
        return proxyInvalid(submit.param, submit.reason)
      case 'valid':
        return this.#accept(submit.prompt, submit.details, baseUrl)
      default:
        return submit satisfies never
    }
  }

  #accept(prompt: string, details: P2Details, baseUrl: string): SimulatorResponse {
    const magic = parseMagicPrompt(prompt)
    const trick = this.#tricks.answer(prompt, magic)
    if (trick !== undefined) {
      return trick
    }
    const submittedAtMs = this.#account.now()
    const id = this.#newId(submittedAtMs)
    this.#account.tasks.add({ id, prompt, submittedAtMs, limitSeconds: EXECUTION_EXPIRES_AFTER_SECONDS, details })
    const task = this.#account.tasks.find(id)
    if (task === undefined) {
      return proxyProblem(PROXY_PROBLEMS.internal)
    }
    // The submit response always shows the initial state, even without a queue.
    const body = proxySubmitBody({ ...task, phase: 'waiting' }, this.#rendering(task, baseUrl))
    return delayed(proxyResponse(200, body), magic)
  }

  #poll(taskId: string, baseUrl: string): SimulatorResponse {
    const task = this.#account.tasks.find(taskId)
    const verdict = this.#account.tasks.poll(taskId)
    if (task === undefined || verdict === 'unknown') {
      return proxyProblem(PROXY_PROBLEMS.notFound)
    }
    if (verdict === 'poll-errors') {
      return proxyProblem(PROXY_PROBLEMS.internal)
    }
    if (verdict === 'odd-status') {
      const early = { ...task, phase: 'waiting' } as const
      return proxyResponse(200, proxyPollBody(early, { ...this.#rendering(early, baseUrl), oddStatus: 'warming_up' }))
    }
    return proxyResponse(200, proxyPollBody(task, this.#rendering(task, baseUrl)))
  }

  #rendering(task: SimulatedTask<P2Details>, baseUrl: string): ProxyRendering {
    const expiresAtMs = task.endsAtMs + this.#account.behaviour.resultTtlSeconds * 1000
    const hasUrl = task.phase === 'succeeded' && task.magic.resultTrick !== 'no-url'
    const url = { baseUrl, taskId: task.id, extension: 'mp4', expiresAtMs } as const
    return {
      behaviour: this.#account.behaviour,
      baseUrl,
      videoUrl: hasUrl ? this.#account.results.url(url) : undefined,
    }
  }

  #newId(nowMs: number): string {
    const tail = randomBytes(7).toString('hex')
    switch (this.#account.behaviour.shape) {
      case 'unified':
        return `task-unified-${Math.floor(nowMs / 1000)}-${tail.slice(0, 8)}`
      case 'raw':
        return `cgt-${tail}`
      default:
        return `task_${tail}`
    }
  }
}
