/** What of an event of a job the state follows from. `GET /v1/video/generations/{id}/events` has more. */
export type JobEvent = {
  readonly id: string
  readonly type: string
  readonly at: number
  readonly percent?: number
  readonly eta_seconds?: number
  readonly cost?: string
  readonly error?: string
}

/** How far one video of the playground is. */
export type RunState = {
  readonly jobId: string | undefined
  readonly status: 'sending' | 'queued' | 'processing' | 'storing' | 'succeeded' | 'failed' | 'cancelled'
  readonly percent: number | undefined
  readonly etaSeconds: number | undefined
  readonly cost: string | undefined
  readonly url: string | undefined
  readonly error: string | undefined
  readonly events: readonly JobEvent[]
}

/** A run before its first response. */
export const FIRST_RUN_STATE: RunState = {
  jobId: undefined,
  status: 'sending',
  percent: undefined,
  etaSeconds: undefined,
  cost: undefined,
  url: undefined,
  error: undefined,
  events: [],
}

const STATUSES: Readonly<Record<string, RunState['status']>> = {
  queued: 'queued',
  submitted: 'queued',
  processing: 'processing',
  finished: 'storing',
  stored: 'storing',
  succeeded: 'succeeded',
  failed: 'failed',
  cancelled: 'cancelled',
}

/** The state after an event; an event that came before, on an earlier connection, changes nothing. */
export function afterEvent(state: RunState, event: JobEvent): RunState {
  if (state.events.some(({ id }) => id === event.id)) {
    return state
  }
  return {
    ...state,
    status: STATUSES[event.type] ?? state.status,
    percent: Math.max(event.percent ?? 0, state.percent ?? 0) || undefined,
    etaSeconds: event.type === 'progress' ? event.eta_seconds : state.etaSeconds,
    cost: event.cost ?? state.cost,
    error: event.error ?? state.error,
    events: event.type === 'progress' ? state.events : [...state.events, event],
  }
}

/** Whether nothing more happens. */
export function hasEnded({ status }: RunState): boolean {
  return status === 'succeeded' || status === 'failed' || status === 'cancelled'
}
