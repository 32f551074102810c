import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Thirteen digits: the runner takes them out of stack traces. */
let last = Date.now()

/** Loads a module of ours with all that it imports, as a new process would. @param path from the root of the repository. */
export async function importAnew<Module>(path: string): Promise<Module> {
  last += 1
  return await import(`${pathToFileURL(join(import.meta.dirname, '../..', path)).href}?vitest=${last}`)
}
