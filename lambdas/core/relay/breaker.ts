/** When a channel pauses, by its configuration. */
export type BreakerSettings = {
  /** Failures in a row that open the breaker; 0 for a breaker that never opens. */
  readonly failures: number
  /** How long the breaker stays open before one call may try the channel. */
  readonly pause_seconds: number
}

/**
 * The state of one channel's circuit breaker. `epoch` grows when the breaker opens and when a trial begins, so that the
 * report of a call that was admitted before then no longer counts.
 */
export type BreakerState =
  | { readonly kind: 'closed'; readonly epoch: number; readonly failures: number }
  | { readonly kind: 'open'; readonly epoch: number; readonly sinceMilliseconds: number }
  /** One call is trying the channel; all others stay out. */
  | { readonly kind: 'half_open'; readonly epoch: number; readonly sinceMilliseconds: number }

/**
 * What an admitted call reports about its channel. A call may report `answered` and later one of the others, and `failed`
 * even after `completed`, where only the reader of the reply sees that its end is missing.
 */
export type BreakerReport =
  /**
   * The reply began. A trial then succeeds, so that a long stream does not keep other calls out. The count of failures in a
   * row stays: a channel that breaks off each of its streams begins every reply.
   */
  | { readonly kind: 'answered' }
  /** The reply is complete: the count of failures starts anew. */
  | { readonly kind: 'completed' }
  /**
   * `failuresBefore`: the count when this same call reported `completed`, which this report takes back.
   */
  | { readonly kind: 'failed'; readonly nowMilliseconds: number; readonly failuresBefore: number }
  /** The call says nothing about the channel: it asked for patience, or the client left. Another trial may begin. */
  | { readonly kind: 'undecided' }

/** The state of a channel before its first call. */
export const CLOSED_BREAKER: BreakerState = { kind: 'closed', epoch: 0, failures: 0 }

/** The state after a call asked for admission. `epoch` goes into its report; undefined when the call is not admitted. */
export function admitCall(
  state: BreakerState,
  settings: BreakerSettings,
  nowMilliseconds: number,
): { readonly state: BreakerState; readonly epoch: number | undefined } {
  if (state.kind === 'closed') {
    return { state, epoch: state.epoch }
  }
  if (state.kind === 'half_open' || restMilliseconds(state, settings, nowMilliseconds) > 0) {
    return { state, epoch: undefined }
  }
  const epoch = state.epoch + 1
  return { state: { kind: 'half_open', epoch, sinceMilliseconds: state.sinceMilliseconds }, epoch }
}

/** How long until a call may try the channel; 0 when a call may try now, or after the trial of another call. */
export function restMilliseconds(state: BreakerState, settings: BreakerSettings, nowMilliseconds: number): number {
  if (state.kind !== 'open' || nowMilliseconds < state.sinceMilliseconds) {
    // A clock that was set back must not keep a channel out.
    return 0
  }
  return Math.max(0, state.sinceMilliseconds + settings.pause_seconds * 1_000 - nowMilliseconds)
}

/** The state after a report of the call that was admitted with `epoch`. */
export function reportCall(
  state: BreakerState,
  epoch: number,
  { report, settings }: { readonly report: BreakerReport; readonly settings: BreakerSettings },
): BreakerState {
  if (epoch !== state.epoch || state.kind === 'open') {
    return state
  }
  switch (report.kind) {
    case 'answered':
      // On probation: if this reply breaks off, the channel pauses again.
      return state.kind === 'half_open' ? { kind: 'closed', epoch, failures: settings.failures - 1 } : state
    case 'completed':
      return { kind: 'closed', epoch, failures: 0 }
    case 'failed': {
      if (settings.failures === 0) {
        return CLOSED_BREAKER
      }
      const failures = state.kind === 'closed' ? Math.max(state.failures, report.failuresBefore) + 1 : settings.failures
      return failures < settings.failures
        ? { kind: 'closed', epoch, failures }
        : { kind: 'open', epoch: epoch + 1, sinceMilliseconds: report.nowMilliseconds }
    }
    case 'undecided':
      return state.kind === 'half_open' ? { kind: 'open', epoch, sinceMilliseconds: state.sinceMilliseconds } : state
    default:
      return report satisfies never
  }
}
