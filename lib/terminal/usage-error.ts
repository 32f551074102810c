/** A command line that makes no sense: one sentence. The command's usage is printed below it; exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
