import { type MagicPrompt, parseMagicPrompt } from './magic-prompt.ts'
import type { NewTask, SimulatedTask, TaskPhase } from './simulated-task.ts'
import type { TaskJournal } from './task-journal.ts'
import { TaskSchedule, type TaskTimes } from './task-schedule.ts'

/** The result of a poll: the state of the task, or a fault that its prompt requests. */
type PollVerdict = 'state' | 'unknown' | 'odd-status' | 'poll-errors'

type TaskBookOptions<Details> = {
  readonly now: () => number
  readonly queueSeconds: number
  readonly runSeconds: number
  readonly runningTasksMax: number
  /** Seconds after the submit until the upstream forgets a task. */
  readonly retentionSeconds: number
  /** Persists tasks; read at the start. */
  readonly journal?: TaskJournal<Details> | undefined
}

type Entry<Details> = {
  readonly task: NewTask<Details>
  readonly magic: MagicPrompt
  times: TaskTimes
  cancelledAtMs: number | undefined
  polls: number
}

/** Polls that `[odd-status]` and `[poll-errors]` affect before the real state appears. */
const SPOILED_POLLS = 3

/** Most tasks; the oldest are removed first, so that a long load test does not fill the memory. */
const TASKS_MAX = 100_000

/** A cancelled task disappears after a day. */
const CANCELLED_RETENTION_MS = 24 * 60 * 60 * 1000

/** All tasks of one simulated account. States are computed from the clock on each read. */
export class TaskBook<Details> {
  readonly #options: TaskBookOptions<Details>
  readonly #entries = new Map<string, Entry<Details>>()
  #schedule: TaskSchedule

  constructor(options: TaskBookOptions<Details>) {
    this.#options = options
    this.#schedule = new TaskSchedule(options.runningTasksMax)
    this.#restore()
  }

  /** Accepts a task. */
  add(task: NewTask<Details>): void {
    this.#enter(task)
    this.#options.journal?.append({ kind: 'added', task })
  }

  #enter(task: NewTask<Details>): void {
    const magic = parseMagicPrompt(task.prompt)
    const times = this.#place(task, magic, task.submittedAtMs)
    this.#entries.set(task.id, { task, magic, times, cancelledAtMs: undefined, polls: 0 })
    for (const oldestId of this.#entries.keys()) {
      if (this.#entries.size <= TASKS_MAX) {
        break
      }
      this.#entries.delete(oldestId)
    }
  }

  /** Returns a task, or undefined if it is unknown, removed or too old. */
  find(id: string): SimulatedTask<Details> | undefined {
    const entry = this.#entries.get(id)
    return entry === undefined ? undefined : this.#view(entry)
  }

  /** All kept tasks, newest first. */
  list(): SimulatedTask<Details>[] {
    return [...this.#entries.values()].flatMap((entry) => this.#view(entry) ?? []).toReversed()
  }

  /** Counts a poll and returns its result. */
  poll(id: string): PollVerdict {
    const entry = this.#entries.get(id)
    if (entry === undefined) {
      return 'unknown'
    }
    entry.polls += 1
    const trick = entry.magic.pollTrick
    const isSpoiled = trick === 'unknown' || (trick !== undefined && entry.polls <= SPOILED_POLLS)
    return isSpoiled ? trick : 'state'
  }

  /** Cancels a waiting task and moves up the tasks behind it. Returns false for any other task. */
  cancel(id: string): boolean {
    const entry = this.#entries.get(id)
    if (entry === undefined || this.#view(entry)?.phase !== 'waiting') {
      return false
    }
    const atMs = this.#options.now()
    this.#cancelAt(entry, atMs)
    this.#options.journal?.append({ kind: 'cancelled', id, atMs })
    return true
  }

  /** Forgets a task. */
  remove(id: string): void {
    this.#entries.delete(id)
    this.#options.journal?.append({ kind: 'removed', id })
  }

  #restore(): void {
    for (const line of this.#options.journal?.read() ?? []) {
      const entry = line.kind === 'added' ? undefined : this.#entries.get(line.id)
      if (line.kind === 'added') {
        this.#enter(line.task)
      } else if (line.kind === 'removed') {
        this.#entries.delete(line.id)
      } else if (entry !== undefined) {
        this.#cancelAt(entry, line.atMs)
      }
    }
  }

  #cancelAt(entry: Entry<Details>, atMs: number): void {
    entry.cancelledAtMs = atMs
    this.#replan(atMs)
  }

  #place(task: NewTask<Details>, magic: MagicPrompt, notBeforeMs: number): TaskTimes {
    return this.#schedule.place({
      readyAtMs: Math.max(notBeforeMs, task.submittedAtMs + (magic.queueSeconds ?? this.#options.queueSeconds) * 1000),
      runMs: (magic.runSeconds ?? this.#options.runSeconds) * 1000,
      limitAtMs: limitAtMs(task),
    })
  }

  #replan(nowMs: number): void {
    this.#schedule = new TaskSchedule(this.#options.runningTasksMax)
    const open = [...this.#entries.values()].filter((entry) => entry.cancelledAtMs === undefined)
    for (const entry of open.filter((candidate) => candidate.times.startsAtMs <= nowMs)) {
      const endsAtMs = Math.min(entry.times.endsAtMs, limitAtMs(entry.task))
      if (endsAtMs > nowMs) {
        this.#schedule.occupy(endsAtMs)
      }
    }
    for (const entry of open.filter((candidate) => candidate.times.startsAtMs > nowMs)) {
      entry.times = this.#place(entry.task, entry.magic, nowMs)
    }
  }

  #view(entry: Entry<Details>): SimulatedTask<Details> | undefined {
    const nowMs = this.#options.now()
    const goneAtMs =
      entry.cancelledAtMs === undefined
        ? entry.task.submittedAtMs + this.#options.retentionSeconds * 1000
        : entry.cancelledAtMs + CANCELLED_RETENTION_MS
    if (nowMs >= goneAtMs) {
      return undefined
    }
    const { phase, changedAtMs } = phaseOf(entry, nowMs)
    return { ...entry.task, ...entry.times, magic: entry.magic, phase, changedAtMs }
  }
}

function limitAtMs(task: NewTask<unknown>): number {
  return task.submittedAtMs + task.limitSeconds * 1000
}

function phaseOf(entry: Entry<unknown>, nowMs: number): { phase: TaskPhase; changedAtMs: number } {
  const { startsAtMs, endsAtMs } = entry.times
  const expiresAtMs = limitAtMs(entry.task)
  if (entry.cancelledAtMs !== undefined) {
    return { phase: 'cancelled', changedAtMs: entry.cancelledAtMs }
  }
  if (nowMs >= endsAtMs && endsAtMs <= expiresAtMs) {
    return { phase: entry.magic.ending === 'succeed' ? 'succeeded' : 'failed', changedAtMs: endsAtMs }
  }
  if (nowMs >= expiresAtMs) {
    return { phase: 'expired', changedAtMs: expiresAtMs }
  }
  return nowMs >= startsAtMs
    ? { phase: 'running', changedAtMs: startsAtMs }
    : { phase: 'waiting', changedAtMs: entry.task.submittedAtMs }
}
