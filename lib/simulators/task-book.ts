import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import { type MagicPrompt, parseMagicPrompt } from './video-magic-words.ts'

/** The phase of a task, independent of the provider's status words. */
export type TaskPhase = 'waiting' | 'running' | 'succeeded' | 'failed' | 'cancelled' | 'expired'

/** An accepted task. `Details` holds the data for the provider's responses. */
export type NewTask<Details> = {
  readonly id: string
  readonly prompt: string
  readonly submittedAtMs: number
  readonly details: Details
}

/** A task at one moment. */
export type SimulatedTask<Details> = NewTask<Details> & {
  readonly magic: MagicPrompt
  readonly phase: TaskPhase
  readonly startsAtMs: number
  readonly endsAtMs: number
  /** When `phase` began. */
  readonly changedAtMs: number
}

/** The result of a poll: the state of the task, or a fault that its prompt requests. */
type PollVerdict = 'state' | 'unknown' | 'odd-status' | 'poll-errors'

type TaskBookOptions<Details> = {
  readonly now: () => number
  readonly queueSeconds: number
  readonly runSeconds: number
  /** Seconds after the submit until an unfinished task ends as `expired`. */
  readonly limitSeconds: number
  /** Seconds after the submit until the upstream forgets a task. */
  readonly retentionSeconds: number
  readonly detailsSchema: z.ZodType<Details>
  /** Keeps the tasks across restarts. */
  readonly stateFile: string | undefined
}

type Entry<Details> = {
  readonly task: NewTask<Details>
  readonly magic: MagicPrompt
  cancelledAtMs: number | undefined
  polls: number
}

/** Polls that `[odd-status]` and `[poll-errors]` affect before the real state appears. */
const SPOILED_POLLS = 3
/** The oldest tasks are removed first, so that a long load test does not fill the memory. */
const TASKS_MAX = 100_000
/** A cancelled task disappears after a day. */
const CANCELLED_RETENTION_MS = 24 * 60 * 60 * 1000

/** All tasks of one simulated account. States are computed from the clock on each read, without timers. */
export class TaskBook<Details> {
  readonly #options: TaskBookOptions<Details>
  readonly #entries = new Map<string, Entry<Details>>()
  readonly #journal: TaskJournal<Details> | undefined

  constructor(options: TaskBookOptions<Details>) {
    this.#options = options
    this.#journal =
      options.stateFile === undefined ? undefined : new TaskJournal(options.stateFile, options.detailsSchema)
    for (const line of this.#journal?.read() ?? []) {
      this.#apply(line)
    }
  }

  /** Accepts a task. */
  add(task: NewTask<Details>): void {
    this.#record({ kind: 'added', task })
  }

  /** Cancels a task. */
  cancel(id: string): void {
    this.#record({ kind: 'cancelled', id, atMs: this.#options.now() })
  }

  /** Forgets a task. */
  remove(id: string): void {
    this.#record({ kind: 'removed', id })
  }

  /** Returns a task, or undefined if it is unknown, removed or too old. */
  find(id: string): SimulatedTask<Details> | undefined {
    const entry = this.#entries.get(id)
    return entry && this.#view(entry)
  }

  /** Counts a poll and returns its result. */
  poll(id: string): PollVerdict {
    const entry = this.#entries.get(id)
    if (entry === undefined) {
      return 'unknown'
    }
    entry.polls += 1
    const trick = entry.magic.pollTrick
    return trick === 'unknown' || (trick !== undefined && entry.polls <= SPOILED_POLLS) ? trick : 'state'
  }

  #record(line: JournalLine<Details>): void {
    this.#apply(line)
    this.#journal?.append(line)
  }

  #apply(line: JournalLine<Details>): void {
    switch (line.kind) {
      case 'added': {
        const { task } = line
        this.#entries.set(task.id, { task, magic: parseMagicPrompt(task.prompt), cancelledAtMs: undefined, polls: 0 })
        const [oldestId] = this.#entries.keys()
        if (this.#entries.size > TASKS_MAX && oldestId !== undefined) {
          this.#entries.delete(oldestId)
        }
        return
      }
      case 'cancelled': {
        const entry = this.#entries.get(line.id)
        if (entry !== undefined) {
          entry.cancelledAtMs = line.atMs
        }
        return
      }
      case 'removed':
        this.#entries.delete(line.id)
        return
      default:
        line satisfies never
    }
  }

  #view({ task, magic, cancelledAtMs }: Entry<Details>): SimulatedTask<Details> | undefined {
    const { now, queueSeconds, runSeconds, limitSeconds, retentionSeconds } = this.#options
    const nowMs = now()
    const forgottenAtMs =
      cancelledAtMs === undefined
        ? task.submittedAtMs + retentionSeconds * 1000
        : cancelledAtMs + CANCELLED_RETENTION_MS
    if (nowMs >= forgottenAtMs) {
      return undefined
    }
    const startsAtMs = task.submittedAtMs + (magic.queueSeconds ?? queueSeconds) * 1000
    const endsAtMs = startsAtMs + (magic.runSeconds ?? runSeconds) * 1000
    const expiresAtMs = task.submittedAtMs + limitSeconds * 1000
    const at = (phase: TaskPhase, changedAtMs: number) => ({ ...task, magic, startsAtMs, endsAtMs, phase, changedAtMs })
    if (cancelledAtMs !== undefined) {
      return at('cancelled', cancelledAtMs)
    }
    if (nowMs >= endsAtMs && endsAtMs <= expiresAtMs) {
      return at(magic.failure === undefined ? 'succeeded' : 'failed', endsAtMs)
    }
    if (nowMs >= expiresAtMs) {
      return at('expired', expiresAtMs)
    }
    return nowMs >= startsAtMs ? at('running', startsAtMs) : at('waiting', task.submittedAtMs)
  }
}

/** An event of a task. */
type JournalLine<Details> =
  | { readonly kind: 'added'; readonly task: NewTask<Details> }
  | { readonly kind: 'cancelled'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'removed'; readonly id: string }

/** Most lines read at the start; older ones are dropped from the file. */
const LINES_MAX = 100_000

/** Tasks in a file, one JSON line per event, so that running jobs continue after a restart. */
class TaskJournal<Details> {
  readonly #file: string
  readonly #line: z.ZodType<JournalLine<Details>>

  constructor(file: string, details: z.ZodType<Details>) {
    this.#file = file
    const task: z.ZodType<NewTask<Details>> = z.object({
      id: z.string(),
      prompt: z.string(),
      submittedAtMs: z.number(),
      details,
    })
    this.#line = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('added'), task }),
      z.object({ kind: z.literal('cancelled'), id: z.string(), atMs: z.number() }),
      z.object({ kind: z.literal('removed'), id: z.string() }),
    ])
  }

  /** The recorded events, oldest first. A line truncated by a crash is skipped. */
  read(): JournalLine<Details>[] {
    mkdirSync(dirname(this.#file), { recursive: true })
    const texts = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n').slice(-LINES_MAX) : []
    const lines = texts.flatMap((text) => this.#parsed(text) ?? [])
    // The rename is atomic, so a crash cannot lose the kept tasks.
    writeFileSync(`${this.#file}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    renameSync(`${this.#file}.new`, this.#file)
    return lines
  }

  append(line: JournalLine<Details>): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }

  #parsed(text: string): JournalLine<Details> | undefined {
    try {
      return this.#line.parse(JSON.parse(text))
    } catch {
      return undefined
    }
  }
}
