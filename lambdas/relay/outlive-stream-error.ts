/** Errors of response streams: a rejection with one of them as its reason is theirs. */
const streamErrors = new WeakSet<Error>()

/**
 * A listener for `error` of a response stream. Lambda's runtime client (`aws-lambda-ric` 4) rejects a promise that nothing
 * awaits with the same error, and Node then ends the process: a broken connection would end a request before its
 * settlement, and Reconcile would give the money back. The rejection comes in the same turn as the error and is dropped
 * here. Any other rejection still ends the process.
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
