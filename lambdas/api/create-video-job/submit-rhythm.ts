/**
 * Milliseconds: before anything was learnt, and the bounds of what may be learnt. The longest is no longer than the pauses
 * between later reads, so that a job which is refused or waits for a channel is told of as soon as ever.
 */
const FIRST_READ = { unknown: 40, min: 15, max: 500 }

/** What a first read that found the answer takes off: it may have come late. */
const EARLIER = 0.9

/** What a wait that took longer weighs against what was known. */
const NEWEST_WEIGHT = 0.5

/**
 * When to look for a submit's answer first, learnt from the answers before it. Reads that come too early find nothing and
 * cost as much as the one that does; an upstream takes about the same time for each submit.
 */
export class SubmitRhythm {
  /** Milliseconds by model, because it is the model that chooses the upstream. */
  readonly #firstReads = new Map<string, number>()

  firstReadMilliseconds(model: string): number {
    return this.#firstReads.get(model) ?? FIRST_READ.unknown
  }

  /** @param answer how long the answer was waited for, and with how many reads. */
  learn(model: string, answer: { readonly waitedMilliseconds: number; readonly reads: number }): void {
    const known = this.firstReadMilliseconds(model)
    const learnt = answer.reads === 1 ? known * EARLIER : known + (answer.waitedMilliseconds - known) * NEWEST_WEIGHT
    this.#firstReads.set(model, Math.min(FIRST_READ.max, Math.max(FIRST_READ.min, learnt)))
  }
}
