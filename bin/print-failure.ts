import { explainFailure } from '../lib/admin/explain-failure.ts'

/** Ends a command that failed: one sentence where the error explains itself, the stack where it is ours. */
export function printFailure(error: unknown): void {
  const isPortTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (isPortTaken) {
    console.error(`${error.message}: choose another --port, or --port 0 for a free one`)
  } else {
    console.error(explainFailure(error) ?? error)
  }
  process.exit(1)
}
