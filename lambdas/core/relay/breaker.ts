/** When a channel is given a rest, as its configuration says. */
export type BreakerSettings = {
  /** Failures in a row that open the breaker; 0 for a breaker that never opens. */
  readonly failures: number
  /** How long it stays open before one call may try. */
  readonly pause_seconds: number
}

/**
 * The state of one channel's circuit breaker. `epoch` grows when it opens and when a trial begins, so that a call that
 * was let in before then has no say any more.
 */
export type BreakerState =
  | { readonly kind: 'closed'; readonly epoch: number; readonly failures: number }
  | { readonly kind: 'open'; readonly epoch: number; readonly sinceMilliseconds: number }
  /** One call is trying the channel; all others stay out. */
  | { readonly kind: 'half_open'; readonly epoch: number; readonly sinceMilliseconds: number }

/**
 * What a call that was let in says about its channel. A call may say `answered` and later one of the others, and
 * `failed` even after `completed`, where only the reader of the answer sees that its end is missing.
 */
export type BreakerReport =
  /**
   * The answer began. A trial thereby succeeds, so that a long stream does not keep everyone out. It ends no row of
   * failures: a channel that breaks off each of its streams answers every call.
   */
  | { readonly kind: 'answered' }
  /** The answer came to its end: the row of failures is over. */
  | { readonly kind: 'completed' }
  /**
   * `failuresBefore`: the row as it was when this same call said `completed`, which it takes back.
   */
  | { readonly kind: 'failed'; readonly nowMilliseconds: number; readonly failuresBefore: number }
  /** Nothing about the channel's health: it asked for patience, or the client left. A trial's place becomes free. */
  | { readonly kind: 'undecided' }

/** The state of a channel that nothing is known of. */
export const CLOSED_BREAKER: BreakerState = { kind: 'closed', epoch: 0, failures: 0 }

/** The state after a call asked to be let in; `epoch` is what it reports by, undefined when it must stay out. */
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

/** How long until a call may try the channel; 0 when one may now, or as soon as the trial of another has ended. */
export function restMilliseconds(state: BreakerState, settings: BreakerSettings, nowMilliseconds: number): number {
  if (state.kind !== 'open' || nowMilliseconds < state.sinceMilliseconds) {
    // A clock that was set back must not keep a channel out.
    return 0
  }
  return Math.max(0, state.sinceMilliseconds + settings.pause_seconds * 1_000 - nowMilliseconds)
}

/** The state after a report of the call that was let in with `epoch`. */
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
      // On probation: should this very answer break off, the channel rests again.
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
