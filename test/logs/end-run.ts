import { rmSync } from 'node:fs'
import { logDirectory, searchLogs } from './kept-logs.ts'

/** A run that logs a secret logs it in many lines. */
const SHOWN_MAX = 20

/** After all tests: the run has failed when any of its logs holds a secret. @throws Error that names them. */
export default function endRun(): void {
  const directory = logDirectory()
  if (directory === undefined) {
    return
  }
  const found = searchLogs(directory)
  rmSync(directory, { recursive: true, force: true })
  if (found.length > 0) {
    const shown = found.slice(0, SHOWN_MAX).map(({ kind, line }) => `  ${kind}: ${line}`)
    throw new Error(`the logs of this run hold ${found.length} secrets:\n${shown.join('\n')}`)
  }
}
