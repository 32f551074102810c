import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { openLog } from '../logs/kept-logs.ts'
import { REPOSITORY, withoutJest } from './child-environment.ts'

const run = promisify(execFile)

/** Runs one admin command with `--json` against a running local host and answers what it prints. */
export async function runAdmin(dataDirectory: string, command: readonly string[]): Promise<unknown> {
  const parameters = [
    '--import',
    './bin/require-node.mjs',
    'bin/admin.ts',
    ...command,
    '--json',
    '--local',
    '--data-dir',
    dataDirectory,
  ]
  const { stdout, stderr } = await run(process.execPath, parameters, { cwd: REPOSITORY, env: withoutJest() })
  const log = openLog('admin', 'stderr')
  log.write(stderr)
  log.close()
  return JSON.parse(stdout)
}
