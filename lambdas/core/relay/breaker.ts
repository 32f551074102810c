/**
 * For whom a breaker decides: for its one tenant, or for all tenants of a channel. What one tenant sends may make an upstream fail, so
 * that the failures of at least two tenants open the breaker of all.
 */
export type BreakerScope = 'tenant' | 'all'

/** When a breaker opens and for how long, by the configuration of its channel. */
export type BreakerSettings = {
  /** Failures in a row that open the breaker; 0 for a breaker that never opens. */
  readonly failures: number
  /** How long the breaker stays open before one call may try the channel. */
  readonly pause_seconds: number
  readonly scope: BreakerScope
}

const TENANTS_TO_OPEN: Readonly<Record<BreakerScope, number>> = { tenant: 1, all: 2 }

/** Failures of one tenant that count in the row of all: with more than half of them, it would need but one of another tenant to open it. */
function shareMax({ failures, scope }: BreakerSettings): number {
  return scope === 'tenant' ? failures : Math.ceil(failures / 2)
}

/** How long a trial keeps other calls out. A reply may take minutes to begin, so the next call then tries as well. */
const TRIAL_MILLISECONDS = 2_000

/** Failures that count since the last success, and the tenant of each; those of a trial that began well have none. */
export type FailureRow = { readonly failures: number; readonly tenants: readonly string[] }

export const NO_FAILURES: FailureRow = { failures: 0, tenants: [] }

/** A call that asks for admission. */
export type BreakerCall = { readonly tenantId: string; readonly nowMilliseconds: number }

/**
 * The state of a circuit breaker. `epoch` grows when the breaker opens and when its trials begin, so that the report of a call that was
 * admitted before then no longer counts.
 */
export type BreakerState =
  | { readonly kind: 'closed'; readonly epoch: number; readonly row: FailureRow }
  | { readonly kind: 'open'; readonly epoch: number; readonly sinceMilliseconds: number }
  /** Calls try the channel. `row` has the failed trials; the last `trial` keeps other calls out for a moment. */
  | { readonly kind: 'half_open'; readonly epoch: number; readonly row: FailureRow; readonly trial: Trial }

/** `isOver`: it ended without a decision, and keeps none out but its own tenant, which could begin one after the other. */
type Trial = BreakerCall & { readonly isOver?: true }

/**
 * What an admitted call reports about its channel. A call may report `begun` and later one of the others, and `failed`
 * even after `completed`, where only the reader of the reply sees that its end is missing.
 */
export type BreakerReport =
  /**
   * The reply began. A trial then succeeds, so that a long stream does not keep other calls out. The count of failures in a
   * row stays: a channel that breaks off each of its streams begins every reply.
   */
  | { readonly kind: 'begun' }
  /** The reply is complete: the count of failures starts anew. */
  | { readonly kind: 'completed' }
  /** `before`: the row when this same call reported `completed`, which this report takes back. */
  | ({ readonly kind: 'failed'; readonly before: FailureRow } & BreakerCall)
  /** The call says nothing about the channel: it asked for patience, or the client left. Another trial may begin. */
  | { readonly kind: 'undecided' }

/** The state of a breaker before its first call. */
export const CLOSED_BREAKER: BreakerState = { kind: 'closed', epoch: 0, row: NO_FAILURES }

/**
 * How long until a call is let in; 0 when it is now. Among tenants, a trial keeps the calls of its own tenant out for twice as long: a
 * tenant whose trials hang leaves the next two seconds to the others.
 */
export function restMilliseconds(
  state: BreakerState,
  settings: BreakerSettings,
  { tenantId, nowMilliseconds }: BreakerCall,
): number {
  if (state.kind === 'open') {
    return restOf(state.sinceMilliseconds, settings.pause_seconds * 1_000, nowMilliseconds)
  }
  if (state.kind === 'closed') {
    return 0
  }
  const { trial } = state
  if (settings.scope === 'all' && trial.tenantId === tenantId) {
    return restOf(trial.nowMilliseconds, 2 * TRIAL_MILLISECONDS, nowMilliseconds)
  }
  return trial.isOver ? 0 : restOf(trial.nowMilliseconds, TRIAL_MILLISECONDS, nowMilliseconds)
}

/** A clock that was set back must not keep a channel out. */
function restOf(since: number, milliseconds: number, now: number): number {
  return now < since ? 0 : Math.max(0, since + milliseconds - now)
}

/**
 * The state after a call was admitted, whose `epoch` goes into the reports of the call. A call that is admitted although it should rest
 * (nothing else serves its model) changes nothing before it reports.
 */
export function admitCall(state: BreakerState, settings: BreakerSettings, call: BreakerCall): BreakerState {
  if (state.kind === 'closed' || restMilliseconds(state, settings, call) > 0) {
    return state
  }
  return state.kind === 'open'
    ? { kind: 'half_open', epoch: state.epoch + 1, row: NO_FAILURES, trial: call }
    : { ...state, trial: call }
}

/** The state after a report of the call that was admitted with `epoch`. */
export function reportCall(
  state: BreakerState,
  epoch: number,
  { report, settings }: { readonly report: BreakerReport; readonly settings: BreakerSettings },
): BreakerState {
  if (epoch !== state.epoch) {
    return state
  }
  switch (report.kind) {
    case 'begun':
      // On probation: if this reply breaks off, the channel pauses again.
      return state.kind === 'closed' ? state : closed(epoch, { failures: settings.failures - 1, tenants: [] })
    case 'completed':
      return rowOf(state) === NO_FAILURES && state.kind === 'closed' ? state : closed(epoch, NO_FAILURES)
    case 'failed':
      return afterFailure(state, report, settings)
    case 'undecided':
      return state.kind === 'half_open' ? { ...state, trial: { ...state.trial, isOver: true } } : state
    default:
      return report satisfies never
  }
}

function closed(epoch: number, row: FailureRow): BreakerState {
  return { kind: 'closed', epoch, row }
}

/** The failures of a state; none where the breaker is open. */
export function rowOf(state: BreakerState): FailureRow {
  return state.kind === 'open' ? NO_FAILURES : state.row
}

function afterFailure(
  state: BreakerState,
  { before, tenantId, nowMilliseconds }: BreakerReport & { readonly kind: 'failed' },
  settings: BreakerSettings,
): BreakerState {
  if (state.kind === 'open' || settings.failures === 0) {
    return state
  }
  const { epoch } = state
  const row = rowWith(tenantId, longer(state.row, before), settings)
  // One failed trial says as much as a whole row: the channel was out before.
  const isRow = state.kind === 'half_open' || row.failures >= settings.failures
  if (isRow && new Set(row.tenants).size >= TENANTS_TO_OPEN[settings.scope]) {
    return { kind: 'open', epoch: epoch + 1, sinceMilliseconds: nowMilliseconds }
  }
  return state.kind === 'closed' ? { ...state, row } : { ...state, row, trial: { ...state.trial, isOver: true } }
}

function longer(one: FailureRow, other: FailureRow): FailureRow {
  return other.failures > one.failures ? other : one
}

function rowWith(tenantId: string, row: FailureRow, settings: BreakerSettings): FailureRow {
  const own = row.tenants.filter((each) => each === tenantId).length
  return own >= shareMax(settings) ? row : { failures: row.failures + 1, tenants: [...row.tenants, tenantId] }
}
