import type { CallbackAttempt } from './callback-attempt.ts'

/** An attempt as JSON: `status` is null without a response, `error` null when the callback was delivered. */
export function callbackAttemptView({ at, attempt, status, milliseconds, error, delivered }: CallbackAttempt) {
  return { attempt, at, status: status ?? null, milliseconds, error: error ?? null, delivered }
}

/** Attempts in order, each once: a repeated write may have recorded one twice. */
export function inOrder(attempts: readonly CallbackAttempt[]): readonly CallbackAttempt[] {
  const byNumber = new Map(attempts.map((each) => [each.attempt, each]))
  return [...byNumber.values()].sort((left, right) => left.attempt - right.attempt)
}
