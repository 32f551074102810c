import { quantile } from '../statistics.ts'
import type { Outcome } from './load-connection.ts'
import type { LoadPlan } from './load-plan.ts'

/** What is measured of a load, from and to as of `performance.now()`. */
type Span = { readonly from: number; readonly to: number }

/** Milliseconds that half of all requests, and 99 of 100, took at the most. */
export type Percentiles = { readonly p50: number; readonly p99: number }

export type Tally = {
  /** Answered as expected. */
  readonly requests: number
  /** How many failed, by why. */
  readonly failures: Readonly<Record<string, number>>
  /** Until the last byte. */
  readonly total: Percentiles
  /** Until the first byte of the answer's body. */
  readonly firstByte: Percentiles
}

/** Not one request was answered as expected. */
class NothingAnsweredError extends Error {
  override readonly name = 'NothingAnsweredError'
}

type TallyOptions = { readonly kind: LoadPlan['kind']; readonly span: Span; readonly answerBytes: number }

/**
 * Counts outcomes. A closed loop counts answers that came within the span: its connections are always busy, so what began
 * before makes up for what ends after. An open loop counts requests that were due within the span, however late their
 * answers come, so that a stalled server cannot leave out the requests that it kept waiting.
 */
export class OutcomeTally {
  readonly #options: TallyOptions
  readonly #total: number[] = []
  readonly #firstByte: number[] = []
  readonly #failures = new Map<string, number>()

  constructor(options: TallyOptions) {
    this.#options = options
  }

  add(outcome: Outcome): void {
    const { kind, span, answerBytes } = this.#options
    const at = kind === 'open' ? outcome.dueAt : outcome.endedAt
    if (at < span.from || at >= span.to) {
      return
    }
    const failure = failureOf(outcome, answerBytes)
    if (failure === undefined) {
      this.#total.push(outcome.endedAt - outcome.dueAt)
      this.#firstByte.push(outcome.firstByteAt - outcome.dueAt)
    } else {
      this.addFailure(failure)
    }
  }

  addFailure(reason: string): void {
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1)
  }

  /** @throws NothingAnsweredError when there is nothing to take percentiles of. */
  result(): Tally {
    const failures = Object.fromEntries(this.#failures)
    if (this.#total.length === 0) {
      throw new NothingAnsweredError(`no request was answered as expected: ${JSON.stringify(failures)}`)
    }
    return {
      requests: this.#total.length,
      failures,
      total: percentiles(this.#total),
      firstByte: percentiles(this.#firstByte),
    }
  }
}

/** A wrong length is a wrong answer: an event or a part of it is missing. */
function failureOf({ failure, status, bodyBytes }: Outcome, answerBytes: number): string | undefined {
  if (failure !== undefined) {
    return failure
  }
  if (status !== 200) {
    return `status ${status}`
  }
  return bodyBytes === answerBytes ? undefined : `${bodyBytes} bytes`
}

function percentiles(values: readonly number[]): Percentiles {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99) }
}
