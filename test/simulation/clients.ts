import { createVideoJob } from '#lambdas/api/create-video-job/create-video-job.ts'
import { cancelVideoJob } from '#lambdas/pipeline/cancel-video-job.ts'
import { deleteVideoJob } from '#lambdas/pipeline/delete-video-job.ts'
import { findCaller } from '#store/callers.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'
import { pick } from './faults.ts'
import type { Operators } from './operators.ts'
import { CALLBACK_HOST, type World } from './world.ts'

type Request = { readonly prompt: string; readonly digest: string; readonly idempotencyKey: string | undefined }

/** Tries of one request by a client that gets no answer; only with an idempotency key may it try again. */
const TRIES_MAX = 3

/** The clients of video jobs in one history. */
export class Clients {
  readonly promptsWithKey = new Set<string>()
  readonly keyOfPrompt = new Map<string, string>()
  readonly answers = new Map<string, number>()
  readonly #world: World
  readonly #requests: Request[] = []
  readonly #jobs: { readonly tenantId: string; readonly jobId: string }[] = []
  readonly #cancelled = new Set<string>()
  readonly #operators: Operators

  constructor(world: World, operators: Operators) {
    this.#world = world
    this.#operators = operators
  }

  /** A new request, or an earlier one again. */
  create(): void {
    const isRepeat = this.#requests.length > 0 && this.#world.scheduler.random() < 0.3
    const request = isRepeat ? pick(this.#world.scheduler, this.#requests) : this.#newRequest()
    if (!isRepeat || request.idempotencyKey !== undefined) {
      this.#world.scheduler.spawn(() => this.#send(request))
    }
  }

  /** Cancels every second job, and deletes the others and those that were cancelled. */
  deleteOrCancel(): void {
    const { scheduler } = this.#world
    if (this.#jobs.length === 0) {
      return
    }
    const job = pick(scheduler, this.#jobs)
    const isCancel = this.#jobs.indexOf(job) % 2 === 1 && !this.#cancelled.has(job.jobId)
    if (isCancel) {
      this.#cancelled.add(job.jobId)
    }
    const end = isCancel ? cancelVideoJob : deleteVideoJob
    const run = () => scheduler.invoke(async () => void (await end(job, this.#world.context())))
    scheduler.spawn(() => run().catch(() => {}))
  }

  #newRequest(): Request {
    const prompt = `prompt-${this.#requests.length + 1}`
    const hasKey = this.#world.scheduler.random() < 0.7
    const digest = pick(this.#world.scheduler, this.#operators.keys).digest
    const request = { prompt, digest, idempotencyKey: hasKey ? prompt : undefined }
    this.#requests.push(request)
    this.keyOfPrompt.set(prompt, digest)
    if (hasKey) {
      this.promptsWithKey.add(prompt)
    }
    return request
  }

  async #send(request: Request): Promise<void> {
    for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
      const answer = await this.#post(request)
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1)
      if (answer !== 'no answer' || request.idempotencyKey === undefined) {
        return
      }
      await this.#world.scheduler.pause(1000)
    }
  }

  /** What the create operation does behind its middleware: the name of what came of it. */
  async #post({ prompt, digest, idempotencyKey }: Request): Promise<string> {
    const context = this.#world.context()
    const body = {
      model: PER_SECOND_MODEL,
      prompt,
      duration: 5,
      ...(prompt.endsWith('3') ? {} : { callback_url: `https://${CALLBACK_HOST}/${prompt}` }),
    }
    try {
      return await this.#world.scheduler.invoke(async () => {
        const caller = await findCaller(context.table, digest, context.nowMilliseconds() / 1000)
        if (caller === undefined) {
          return '401'
        }
        const answer = JSON.parse(await createVideoJob({ caller, body, idempotencyKey }, context))
        this.#jobs.push({ tenantId: caller.tenantId, jobId: answer.id })
        return '201'
      })
    } catch (error) {
      const hasStatus = typeof error === 'object' && error !== null && 'statusCode' in error
      return hasStatus && Number(error.statusCode) < 500 ? String(error.statusCode) : 'no answer'
    }
  }
}
