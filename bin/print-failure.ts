import { explainFailure } from '../lib/admin/command-line/explain-failure.ts'
import { UsageError } from '../lib/terminal/usage-error.ts'

type Command = {
  /** Printed below what is wrong with a command line. */
  readonly usage?: string
  /** What to do when the port is taken. */
  readonly otherPort?: string
}

/**
 * Ends a command that failed: one sentence where the error explains itself, the stack where it is ours. Exit code 2 for a
 * command line that makes no sense, else 1.
 */
export function printFailure(
  error: unknown,
  { usage, otherPort = 'choose another --port, or --port 0 for a free one' }: Command = {},
): void {
  if (error instanceof UsageError) {
    console.error(usage === undefined ? error.message : `${error.message}\n\n${usage}`)
    process.exit(2)
  }
  const isPortTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  if (isPortTaken) {
    console.error(`${error.message}: ${otherPort}`)
  } else {
    console.error(explainFailure(error) ?? error)
  }
  process.exit(1)
}
