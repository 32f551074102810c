import { HolderRateExceededError } from '#core/admin/errors.ts'

/** A verification reads a whole tenant, up to megabytes. A person who presses the button does so a few times. */
const PER_MINUTE = 6
const MINUTE_MILLISECONDS = 60_000

/** A verification takes seconds. */
const RETRY_WHILE_RUNNING_SECONDS = 5

type OfSession = { isRunning: boolean; readonly starts: number[] }

/**
 * The verifications of each session: one at a time, and six in a minute. Each instance counts by itself, because the function that reads
 * writes nothing.
 */
export class VerificationRate {
  readonly #sessions = new Map<string, OfSession>()

  /**
   * Begins a verification. @returns the function that ends it.
   * @throws HolderRateExceededError
   */
  begin(sessionId: string, nowMilliseconds: number): () => void {
    this.#forget(nowMilliseconds - MINUTE_MILLISECONDS)
    const known = this.#sessions.get(sessionId) ?? { isRunning: false, starts: [] }
    const [first = nowMilliseconds] = known.starts
    if (known.isRunning) {
      throw new HolderRateExceededError('verifications at once', RETRY_WHILE_RUNNING_SECONDS)
    }
    if (known.starts.length >= PER_MINUTE) {
      const seconds = Math.ceil((first + MINUTE_MILLISECONDS - nowMilliseconds) / 1000)
      throw new HolderRateExceededError('verifications', Math.max(1, seconds))
    }
    known.starts.push(nowMilliseconds)
    known.isRunning = true
    this.#sessions.set(sessionId, known)
    return () => {
      known.isRunning = false
    }
  }

  /** Sessions without a verification since then are forgotten, so that memory does not grow. */
  #forget(sinceMilliseconds: number): void {
    for (const [id, { isRunning, starts }] of this.#sessions) {
      const old = starts.findIndex((start) => start > sinceMilliseconds)
      starts.splice(0, old < 0 ? starts.length : old)
      if (starts.length === 0 && !isRunning) {
        this.#sessions.delete(id)
      }
    }
  }
}
