import type { ChildProcess } from 'node:child_process'
import type { LogStream } from './find-secrets.ts'
import { openLog } from './kept-logs.ts'

/** Adds what a process writes to the logs of the run. */
export function keepChildOutput(child: Pick<ChildProcess, 'pid' | 'stdout' | 'stderr'>): void {
  for (const stream of ['stdout', 'stderr'] as const satisfies readonly LogStream[]) {
    const log = openLog(`child-${child.pid}`, stream)
    child[stream]?.on('data', (chunk) => log.write(String(chunk)))
    child[stream]?.once('close', log.close)
  }
}
