/** A command line that makes no sense; the message says how it is used. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
