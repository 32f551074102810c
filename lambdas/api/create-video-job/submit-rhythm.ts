/** Milliseconds: before anything was learnt, and the bounds of learning. The maximum is that of the pauses between later reads. */
const FIRST_READ = { unknown: 40, min: 15, max: 500 }

/**
 * The factor on the wait after a first read that found the reply, which may have come earlier. After several such reads the
 * wait is much too long, as it is after a slow period.
 */
const AFTER_HITS = [0.9, 0.75, 0.5] as const

/** The weight of a longer wait against what was learnt, and the most that one wait may raise it. */
const NEWEST_WEIGHT = 0.5
const RISE_MAX = 1.5

type Learnt = { readonly milliseconds: number; readonly hits: number }

/**
 * When to read a job for the reply to its submit, learnt from earlier submits. A read that comes too early costs as much as
 * one that finds the reply, and an upstream takes about the same time for each submit. One slow submit hardly counts.
 */
export class SubmitRhythm {
  /** By model, because the model decides the upstream. */
  readonly #learnt = new Map<string, Learnt>()

  firstReadMilliseconds(model: string): number {
    return this.#learnt.get(model)?.milliseconds ?? FIRST_READ.unknown
  }

  /** @param wait how long the reply took to be found, and with how many reads. */
  learn(model: string, wait: { readonly waitedMilliseconds: number; readonly reads: number }): void {
    const known = this.firstReadMilliseconds(model)
    const hits = wait.reads === 1 ? (this.#learnt.get(model)?.hits ?? 0) + 1 : 0
    const learnt =
      hits > 0
        ? known * (AFTER_HITS[Math.min(hits, AFTER_HITS.length) - 1] ?? 1)
        : Math.min(known * RISE_MAX, known + (wait.waitedMilliseconds - known) * NEWEST_WEIGHT)
    const milliseconds = Math.min(FIRST_READ.max, Math.max(FIRST_READ.min, learnt))
    this.#learnt.set(model, { milliseconds, hits })
  }
}
