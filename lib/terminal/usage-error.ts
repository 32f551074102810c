/** A wrong command line: one sentence. The usage of the command is printed below it; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
