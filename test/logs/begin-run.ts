import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DIRECTORY_VARIABLE } from './kept-logs.ts'

/** Before all tests: a directory for the logs of the run. */
export default function beginRun(): void {
  process.env[DIRECTORY_VARIABLE] = mkdtempSync(join(tmpdir(), 'reelgate-logs-'))
}
