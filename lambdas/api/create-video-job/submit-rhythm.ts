/**
 * Milliseconds: before anything was learnt, and the bounds of what may be learnt. The longest is no longer than the pauses
 * between later reads.
 */
const FIRST_READ = { unknown: 40, min: 15, max: 500 }

/**
 * What a first read that found the answer leaves of the wait: it may have come late. Found again and again, the wait is
 * much too long, as after a slow spell.
 */
const AFTER_HITS = [0.9, 0.75, 0.5] as const

/** What a wait that took longer weighs against what was known, and how far one such wait may raise it. */
const NEWEST_WEIGHT = 0.5
const RISE_MAX = 1.5

type Learnt = { readonly milliseconds: number; readonly hits: number }

/**
 * When to look for a submit's answer first, learnt from the answers before it. Reads that come too early find nothing and
 * cost as much as the one that does; an upstream takes about the same time for each submit. One slow submit among fast
 * ones, whoever made it, hardly counts.
 */
export class SubmitRhythm {
  /** By model, because it is the model that chooses the upstream. */
  readonly #learnt = new Map<string, Learnt>()

  firstReadMilliseconds(model: string): number {
    return this.#learnt.get(model)?.milliseconds ?? FIRST_READ.unknown
  }

  /** @param answer how long the answer was waited for, and with how many reads. */
  learn(model: string, answer: { readonly waitedMilliseconds: number; readonly reads: number }): void {
    const known = this.firstReadMilliseconds(model)
    const hits = answer.reads === 1 ? (this.#learnt.get(model)?.hits ?? 0) + 1 : 0
    const learnt =
      hits > 0
        ? known * (AFTER_HITS[Math.min(hits, AFTER_HITS.length) - 1] ?? 1)
        : Math.min(known * RISE_MAX, known + (answer.waitedMilliseconds - known) * NEWEST_WEIGHT)
    const milliseconds = Math.min(FIRST_READ.max, Math.max(FIRST_READ.min, learnt))
    this.#learnt.set(model, { milliseconds, hits })
  }
}
