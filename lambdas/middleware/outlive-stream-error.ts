/** Errors of response streams, by which the rejections that they cause are known. */
const streamErrors = new WeakSet<Error>()

/**
 * For `error` of a response stream. Lambda's runtime client (`aws-lambda-ric` 4) rejects a promise that nobody awaits with
 * the same error, for which Node ends the process: a connection that breaks would end a request before its settlement, and
 * Reconcile would give its money back. Such a rejection comes in the turn of its error, and is dropped here. Any other
 * ends the process as ever.
 */
export function outliveStreamError(error: Error): void {
  streamErrors.add(error)
  process.on('unhandledRejection', endUnlessOfStream)
  setImmediate(() => process.off('unhandledRejection', endUnlessOfStream))
}

/** @throws the reason, which ends the process as it would without a listener. */
function endUnlessOfStream(reason: unknown): void {
  if (!(reason instanceof Error && streamErrors.has(reason))) {
    throw reason
  }
}
