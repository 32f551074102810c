import { readdirSync } from 'node:fs'
import * as z from 'zod'
import { READS } from '#lambdas/admin/reads.ts'
import { WRITES } from '#lambdas/admin/writes.ts'
import type { Command } from './command.ts'
import type { DocumentedOperation } from './document.ts'

/** Whatever the other files of this folder export, and the entries of exported lists and objects. */
const EXPORTS: ReadonlySet<unknown> = await readExports()

async function readExports(): Promise<ReadonlySet<unknown>> {
  const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.ts') && file !== 'commands.ts')
  const modules: readonly object[] = await Promise.all(files.toSorted().map((file) => import(`./${file}`)))
  return new Set(modules.flatMap(Object.values).flatMap((one) => [one, ...Object.values(Object(one))]))
}

/** Every command of `npm run admin`, by name. */
export const COMMANDS: readonly Command[] = [...EXPORTS]
  .filter(isCommand)
  .toSorted((left, right) => left.name.localeCompare(right.name, 'en'))

/**
 * Every defined operation of the admin API, with its documentation.
 * @throws RangeError for an operation that no file of this folder documents.
 */
export const ADMIN_DOCUMENTS: readonly DocumentedOperation[] = documentsOf([...EXPORTS].filter(isDocument))

function documentsOf(found: readonly DocumentedOperation[]): readonly DocumentedOperation[] {
  return [...READS, ...WRITES].map((operation) => {
    const document = found.find((each) => each.operation.name === operation.name)
    if (document === undefined) {
      throw new RangeError(`no file of lib/cli/admin documents ${operation.name}`)
    }
    return document
  })
}

/** The common parts of responses, by their names in `admin-openapi.json`: every exported object of schemas. */
export const ADMIN_SCHEMAS: Readonly<Record<string, z.ZodType>> = Object.assign({}, ...[...EXPORTS].filter(isParts))

function isCommand(one: unknown): one is Command {
  return typeof Object(one).run === 'function' && Array.isArray(Object(one).examples)
}

function isDocument(one: unknown): one is DocumentedOperation {
  return typeof Object(one).returns === 'string' && Object(one).output instanceof z.ZodType
}

function isParts(one: unknown): one is Readonly<Record<string, z.ZodType>> {
  const schemas = Object.values(Object(one))
  return schemas.length > 0 && schemas.every((schema) => schema instanceof z.ZodType)
}
