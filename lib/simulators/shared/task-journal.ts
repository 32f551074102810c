import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import * as z from 'zod'
import type { NewTask } from './simulated-task.ts'

/** An event of a task. */
type JournalLine<Details> =
  | { readonly kind: 'added'; readonly task: NewTask<Details> }
  | { readonly kind: 'cancelled'; readonly id: string; readonly atMs: number }
  | { readonly kind: 'removed'; readonly id: string }

/** Most lines read at the start; older ones are dropped from the file. */
const LINES_MAX = 100_000

/** Tasks of a simulator in a file, one JSON line per event, so that running jobs continue after a restart. */
export class TaskJournal<Details> {
  readonly #file: string
  readonly #lineSchema: z.ZodType<JournalLine<Details>>

  constructor(file: string, detailsSchema: z.ZodType<Details>) {
    this.#file = file
    this.#lineSchema = z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('added'), task: newTaskSchema(detailsSchema) }),
      z.object({ kind: z.literal('cancelled'), id: z.string(), atMs: z.number() }),
      z.object({ kind: z.literal('removed'), id: z.string() }),
    ])
  }

  /** The recorded events, oldest first. A line truncated by a crash is skipped. */
  read(): JournalLine<Details>[] {
    mkdirSync(dirname(this.#file), { recursive: true })
    const texts = existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n').slice(-LINES_MAX) : []
    const lines = texts.flatMap((text) => this.#parse(text) ?? [])
    // The rename is atomic, so a crash cannot lose the kept tasks.
    writeFileSync(`${this.#file}.new`, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    renameSync(`${this.#file}.new`, this.#file)
    return lines
  }

  append(line: JournalLine<Details>): void {
    appendFileSync(this.#file, `${JSON.stringify(line)}\n`)
  }

  #parse(text: string): JournalLine<Details> | undefined {
    try {
      return this.#lineSchema.parse(JSON.parse(text))
    } catch {
      return undefined
    }
  }
}

function newTaskSchema<Details>(details: z.ZodType<Details>): z.ZodType<NewTask<Details>> {
  return z.object({ id: z.string(), prompt: z.string(), submittedAtMs: z.number(), limitSeconds: z.number(), details })
}

/** Opens the journal of a simulator with a state file. */
export function openJournal<Details>(
  file: string | undefined,
  detailsSchema: z.ZodType<Details>,
): TaskJournal<Details> | undefined {
  return file === undefined ? undefined : new TaskJournal(file, detailsSchema)
}
