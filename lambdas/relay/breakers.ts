import { count } from '#adapters/telemetry/count.ts'
import type { RelayChannel } from '#core/catalogue/channel.ts'
import {
  admitCall,
  type BreakerReport,
  type BreakerState,
  CLOSED_BREAKER,
  reportCall,
  restMilliseconds,
} from '#core/relay/breaker.ts'

type BreakerChannel = Pick<RelayChannel, 'id' | 'breaker'>

/** One circuit breaker for each channel, in the memory of this process: every instance learns by itself. */
export class Breakers {
  readonly #states = new Map<string, BreakerState>()

  /** Admits a call to a channel, unless the breaker of the channel is open. The caller reports how the call ended. */
  admit(channel: BreakerChannel, nowMilliseconds: number): AdmittedCall | undefined {
    const { state, epoch } = admitCall(this.#stateOf(channel), channel.breaker, nowMilliseconds)
    this.#states.set(channel.id, state)
    return epoch === undefined ? undefined : new AdmittedCall((report) => this.#report(channel, epoch, report))
  }

  /** Milliseconds until a call may try the channel again. */
  restMilliseconds(channel: BreakerChannel, nowMilliseconds: number): number {
    return restMilliseconds(this.#stateOf(channel), channel.breaker, nowMilliseconds)
  }

  /** The breaker of a channel; undefined before the first call of the channel. */
  stateOf({ id }: Pick<BreakerChannel, 'id'>): BreakerState | undefined {
    return this.#states.get(id)
  }

  /** @returns the number of failures in a row before this report. */
  #report(channel: BreakerChannel, epoch: number, report: BreakerReport): number {
    const before = this.#stateOf(channel)
    const after = reportCall(before, epoch, { report, settings: channel.breaker })
    this.#states.set(channel.id, after)
    // A trial that says nothing of the channel opens the breaker again without a failure.
    if (report.kind === 'failed' && before.kind !== 'open' && after.kind === 'open') {
      count('breaker_opened', { channel: channel.id })
    }
    return before.kind === 'closed' ? before.failures : 0
  }

  #stateOf({ id }: BreakerChannel): BreakerState {
    return this.#states.get(id) ?? CLOSED_BREAKER
  }
}

/** A call that a breaker admitted. The first report of its end counts; only a failure may replace an earlier report. */
export class AdmittedCall {
  readonly #report: (report: BreakerReport) => number
  #end: 'completed' | 'failed' | 'undecided' | undefined
  #failuresBefore = 0

  constructor(report: (report: BreakerReport) => number) {
    this.#report = report
  }

  /** The reply began, and does not count against the channel. */
  answered(): void {
    if (this.#end === undefined) {
      this.#report({ kind: 'answered' })
    }
  }

  /** The reply is complete. */
  completed(): void {
    if (this.#end === undefined) {
      this.#end = 'completed'
      this.#failuresBefore = this.#report({ kind: 'completed' })
    }
  }

  /** The channel failed before its reply or in the middle of it, or the reply turned out to have no end. */
  failed(nowMilliseconds: number): void {
    if (this.#end !== 'failed') {
      this.#end = 'failed'
      this.#report({ kind: 'failed', nowMilliseconds, failuresBefore: this.#failuresBefore })
    }
  }

  /** The call says nothing about the channel. Does nothing after another report of the end. */
  undecided(): void {
    if (this.#end === undefined) {
      this.#end = 'undecided'
      this.#report({ kind: 'undecided' })
    }
  }
}
