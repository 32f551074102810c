import { explainFailure } from '../lib/cli/failures.ts'
import { UsageError } from '../lib/cli/terminal.ts'

type Command = {
  /** Printed below the error about a command line. */
  readonly usage?: string
  /** Advice for a port that is in use. */
  readonly otherPort?: string
}

/**
 * Reports a failed command: one sentence for an error that an operator can understand, the stack for a bug. Exit code 2 for a wrong
 * command line, otherwise 1.
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
