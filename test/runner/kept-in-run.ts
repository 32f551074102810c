import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'node:v8'

/** Names the directory of a run; its workers inherit it. */
const DIRECTORY_VARIABLE = 'REELGATE_TEST_RUN'

/** Before all tests: a directory for what its workers share. */
export function setup(): void {
  process.env[DIRECTORY_VARIABLE] = mkdtempSync(join(tmpdir(), 'reelgate-run-'))
}

/** After all tests. */
export function teardown(): void {
  rmSync(process.env[DIRECTORY_VARIABLE] ?? '', { recursive: true, force: true })
}

/** A file of this run by that name, which all its workers share; undefined outside of a run. */
export function fileOfRun(name: string): string | undefined {
  const directory = process.env[DIRECTORY_VARIABLE]
  return directory === undefined ? undefined : join(directory, name)
}

/**
 * Makes a value that can be written as JSON once in a run for all files that need it: the sources stay as they are during a run.
 * Two workers that need it at once may both make it.
 * @param of everything besides the sources on which the value depends.
 * @returns a value of the caller's own, which it may change.
 */
export function keptInRun<Value>(kind: string, of: unknown, make: () => Value): Value {
  const file = fileOfRun(`${kind}-${createHash('sha256').update(serialize(of)).digest('hex')}.json`)
  if (file === undefined || !existsSync(file)) {
    const made = make()
    if (file !== undefined) {
      const fresh = `${file}.${process.pid}`
      writeFileSync(fresh, JSON.stringify(made))
      renameSync(fresh, file)
    }
    return made
  }
  return JSON.parse(readFileSync(file, 'utf8'))
}
