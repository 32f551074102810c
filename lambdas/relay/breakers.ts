import type { RelayChannel } from '#core/catalogue/channel.ts'
import {
  admitCall,
  type BreakerCall,
  type BreakerReport,
  type BreakerScope,
  type BreakerSettings,
  type BreakerState,
  CLOSED_BREAKER,
  type FailureRow,
  NO_FAILURES,
  reportCall,
  restMilliseconds,
  rowOf,
} from '#core/relay/breaker.ts'
import { RecentValues } from '#platform/cache.ts'
import { count } from '#platform/telemetry/measures.ts'

type BreakerChannel = Pick<RelayChannel, 'id' | 'breaker'>

/**
 * Tenants of a channel whose failures a process remembers, below a megabyte for each channel. Of more, the one that called
 * least recently is forgotten, and begins with no failures.
 */
const TENANTS_MAX = 1_000

/**
 * One circuit breaker for each channel, and one for each tenant that failed on it, in the memory of this process: every instance
 * learns by itself. A tenant whose requests fail is kept out of a channel alone; a channel at which the requests of several tenants
 * fail is left alone by all.
 */
export class Breakers {
  readonly #channels = new Map<string, ChannelBreaker>()

  /**
   * Admits a call to a channel, unless the breaker of the channel or of the tenant is open. The caller reports how the call ended.
   * @param isOnly whether nothing else serves the model of the call: such a channel is tried anyway.
   */
  admit(channel: BreakerChannel, call: BreakerCall, isOnly = false): AdmittedCall | undefined {
    return isOnly || this.restMilliseconds(channel, call) === 0 ? this.#breakerOf(channel).admit(call) : undefined
  }

  /** Milliseconds until a call may try the channel again. */
  restMilliseconds(channel: BreakerChannel, call: BreakerCall): number {
    return this.#breakerOf(channel).restMilliseconds(call)
  }

  /**
   * What an operator sees of a channel; undefined before its first call. `open` also while a tenant alone is kept out.
   * @param nowMilliseconds Unix time.
   */
  shownState({ id }: Pick<BreakerChannel, 'id'>, nowMilliseconds: number): BreakerState['kind'] | undefined {
    return this.#channels.get(id)?.shown(nowMilliseconds)
  }

  #breakerOf(channel: BreakerChannel): ChannelBreaker {
    const known = this.#channels.get(channel.id)
    if (known !== undefined) {
      return known
    }
    const made = new ChannelBreaker(channel)
    this.#channels.set(channel.id, made)
    return made
  }
}

type Rows = Readonly<Record<BreakerScope, FailureRow>>

const NO_ROWS: Rows = { tenant: NO_FAILURES, all: NO_FAILURES }

/** The breaker of one channel, and those of its tenants: a call is let in where both let it in, and reports to both. */
class ChannelBreaker {
  readonly #channelId: string
  readonly #settings: Readonly<Record<BreakerScope, BreakerSettings>>
  readonly #ofTenants = new RecentValues<BreakerState>(TENANTS_MAX)
  #ofAll = CLOSED_BREAKER

  constructor({ id, breaker }: BreakerChannel) {
    this.#channelId = id
    this.#settings = { tenant: { ...breaker, scope: 'tenant' }, all: { ...breaker, scope: 'all' } }
  }

  restMilliseconds(call: BreakerCall): number {
    const restOf = (scope: BreakerScope) =>
      restMilliseconds(this.#state(scope, call.tenantId), this.#settings[scope], call)
    return Math.max(restOf('tenant'), restOf('all'))
  }

  admit(call: BreakerCall): AdmittedCall {
    const { tenantId } = call
    const admitTo = (scope: BreakerScope) => {
      const after = admitCall(this.#state(scope, tenantId), this.#settings[scope], call)
      this.#keep(scope, tenantId, after)
      return after.epoch
    }
    const epochs = { tenant: admitTo('tenant'), all: admitTo('all') }
    let reset = NO_ROWS
    return new AdmittedCall((report) => {
      const rows = this.#report({ tenantId, epochs, reset }, report)
      reset = report.kind === 'completed' ? rows : reset
    })
  }

  shown(nowMilliseconds: number): BreakerState['kind'] {
    if (this.#ofAll.kind !== 'closed') {
      return this.#ofAll.kind
    }
    const isOut = (state: BreakerState) =>
      state.kind === 'open' && restMilliseconds(state, this.#settings.tenant, { tenantId: '', nowMilliseconds }) > 0
    return [...this.#ofTenants.values()].some(isOut) ? 'open' : 'closed'
  }

  /** @returns the rows of failures before this report. */
  #report({ tenantId, epochs, reset }: Admission, said: CallReport): Rows {
    let isOpened = false
    const reportTo = (scope: BreakerScope) => {
      const before = this.#state(scope, tenantId)
      const report = said.kind === 'failed' ? { ...said, tenantId, before: reset[scope] } : said
      const after = reportCall(before, epochs[scope], { report, settings: this.#settings[scope] })
      this.#keep(scope, tenantId, after)
      isOpened ||= before.kind !== 'open' && after.kind === 'open'
      return rowOf(before)
    }
    const rows = { tenant: reportTo('tenant'), all: reportTo('all') }
    if (isOpened) {
      count('breaker_opened', { channel: this.#channelId })
    }
    return rows
  }

  #state(scope: BreakerScope, tenantId: string): BreakerState {
    return scope === 'all' ? this.#ofAll : (this.#ofTenants.get(tenantId) ?? CLOSED_BREAKER)
  }

  /** Tenants that never failed take no room. */
  #keep(scope: BreakerScope, tenantId: string, state: BreakerState): void {
    if (scope === 'all') {
      this.#ofAll = state
    } else if (state !== CLOSED_BREAKER) {
      this.#ofTenants.set(tenantId, state)
    }
  }
}

type CallReport =
  | Exclude<BreakerReport, { kind: 'failed' }>
  | { readonly kind: 'failed'; readonly nowMilliseconds: number }

type Admission = {
  readonly tenantId: string
  readonly epochs: Readonly<Record<BreakerScope, number>>
  /** The rows that this call ended when it reported `completed`. */
  readonly reset: Rows
}

/** A call that a breaker admitted. The first report of its end counts; only a failure may replace an earlier report. */
export class AdmittedCall {
  readonly #report: (report: CallReport) => void
  #end: 'completed' | 'failed' | 'undecided' | undefined

  constructor(report: (report: CallReport) => void) {
    this.#report = report
  }

  /** The reply began, and does not count against the channel. */
  begun(): void {
    if (this.#end === undefined) {
      this.#report({ kind: 'begun' })
    }
  }

  /** The reply is complete. */
  completed(): void {
    if (this.#end === undefined) {
      this.#end = 'completed'
      this.#report({ kind: 'completed' })
    }
  }

  /** The channel failed before its reply or in the middle of it, or the reply turned out to have no end. */
  failed(nowMilliseconds: number): void {
    if (this.#end !== 'failed') {
      this.#end = 'failed'
      this.#report({ kind: 'failed', nowMilliseconds })
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
