import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One example: what it shows, and the body as JSON or as the string of an event stream. */
export type Example = { readonly summary: string; readonly value: unknown }

type NamedExamples = Readonly<Record<string, Example>>

/** Examples of one operation: request bodies, responses of the local host, and event streams. */
export type OperationExamples = {
  readonly requests?: NamedExamples
  readonly responses?: NamedExamples
  readonly events?: NamedExamples
}

/** The examples of an operation or callback, by its name; none without a file. A test parses each with its schema. */
export function readExamples(name: string): OperationExamples {
  const file = join(import.meta.dirname, 'examples', `${name}.json`)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
}
