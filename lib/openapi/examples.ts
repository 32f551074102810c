import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One example of a body: what it shows, and the body: a value of JSON, or the text of an event stream. */
export type Example = { readonly summary: string; readonly value: unknown }

type NamedExamples = Readonly<Record<string, Example>>

/** Examples of one operation: bodies of requests, answers as the local host gave them, and streams of events. */
export type OperationExamples = {
  readonly requests?: NamedExamples
  readonly answers?: NamedExamples
  readonly events?: NamedExamples
}

/** The examples of an operation or of a callback, by its name; none if it has no file. A test parses each as what it stands for. */
export function readExamples(name: string): OperationExamples {
  const file = join(import.meta.dirname, 'examples', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}
