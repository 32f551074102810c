import type {
  CancelOutcome,
  PollOutcome,
  SubmitOutcome,
  VideoProvider,
} from '#adapters/providers/video/video-provider.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { succeeded } from '../engines/scripted-upstream.ts'
import { type Faults, pick } from './faults.ts'
import type { Scheduler } from './scheduler.ts'

type Task = {
  readonly prompt: string
  readonly endsAt: number
  readonly end: 'succeeded' | 'failed' | 'gone' | 'never'
  readonly seconds: string
  cancelled: boolean
}

/** Seconds that a generation takes. */
const GENERATION_SECONDS = { min: 5, max: 400 }

const ENDS = ['succeeded', 'succeeded', 'succeeded', 'succeeded', 'failed', 'gone', 'never'] as const
const ANSWERS = ['accepted', 'accepted', 'accepted', 'accepted', 'lost', 'rejected', 'busy', 'unreachable'] as const

/** The providers' side: it remembers every task that it accepted, whether or not its answer arrived. */
export class SimulatedUpstream {
  readonly tasks = new Map<string, Task>()
  readonly #scheduler: Scheduler
  readonly #faults: Faults

  constructor(scheduler: Scheduler, faults: Faults) {
    this.#scheduler = scheduler
    this.#faults = faults
  }

  open({ id }: VideoChannel): VideoProvider {
    return {
      submit: ({ request }) => this.#wire(`submit to ${id}`, () => this.#submit(request.prompt), UNKNOWN),
      poll: (taskId) => this.#wire(`poll ${taskId}`, () => this.#poll(taskId), UNAVAILABLE),
      cancel: (taskId) => this.#wire<CancelOutcome>(`cancel ${taskId}`, () => this.#cancel(taskId), 'unknown'),
    }
  }

  /** An adapter never throws: a broken connection is an outcome. */
  async #wire<Outcome>(label: string, act: () => Outcome, broken: Outcome): Promise<Outcome> {
    try {
      return await this.#faults.pass(label, async () => act())
    } catch {
      return broken
    }
  }

  #submit(prompt: string): SubmitOutcome {
    const answer = this.#faults.isCalm ? 'accepted' : pick(this.#scheduler, ANSWERS)
    if (answer === 'rejected') {
      return { kind: 'rejected', message: 'not this one', text: '{"error":"not this one"}' }
    }
    if (answer === 'busy') {
      return { kind: 'busy', reason: 'too many', retryAfterSeconds: undefined }
    }
    if (answer === 'unreachable') {
      return { kind: 'unreachable', reason: 'refused' }
    }
    const taskId = `task-${this.tasks.size + 1}`
    this.tasks.set(taskId, this.#newTask(prompt))
    return answer === 'lost' ? UNKNOWN : { kind: 'accepted', taskId, text: JSON.stringify({ task_id: taskId }) }
  }

  #newTask(prompt: string): Task {
    const { min, max } = GENERATION_SECONDS
    const takes = min + Math.floor(this.#scheduler.random() * (max - min))
    return {
      prompt,
      endsAt: this.#scheduler.nowMilliseconds() + takes * 1000,
      end: this.#faults.isCalm ? 'succeeded' : pick(this.#scheduler, ENDS),
      // Seven seconds cost more than the five that were reserved.
      seconds: pick(this.#scheduler, ['5', '5', '3', '7']),
      cancelled: false,
    }
  }

  #poll(taskId: string): PollOutcome {
    const task = this.tasks.get(taskId)
    if (task === undefined || (task.end === 'gone' && this.#isOver(task))) {
      return { kind: 'gone', reason: 'unknown task' }
    }
    if (task.cancelled) {
      return { kind: 'failed', message: 'cancelled', text: '{"status":"cancelled"}' }
    }
    if (!this.#isOver(task) || task.end === 'never') {
      return { kind: 'running', text: '{"status":"running"}', isKnownStatus: true }
    }
    return task.end === 'failed'
      ? { kind: 'failed', message: 'the model failed', text: '{"status":"failed"}' }
      : succeeded({ video_url: `https://results.example/${taskId}.mp4`, seconds: task.seconds, length: '5' })
  }

  #cancel(taskId: string): CancelOutcome {
    const task = this.tasks.get(taskId)
    if (task === undefined || this.#isOver(task) || this.#scheduler.random() < 0.5) {
      return 'refused'
    }
    task.cancelled = true
    return 'cancelled'
  }

  #isOver({ endsAt }: Task): boolean {
    return this.#scheduler.nowMilliseconds() >= endsAt
  }
}

const UNKNOWN: SubmitOutcome = { kind: 'unknown', reason: 'no answer' }
const UNAVAILABLE: PollOutcome = { kind: 'unavailable', reason: 'no answer' }
