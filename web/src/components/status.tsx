/** What a state means for a reader. */
export type Tone = 'good' | 'warn' | 'bad' | 'busy' | 'idle'

const TONES: Readonly<Record<string, Tone>> = {
  succeeded: 'good',
  active: 'good',
  delivered: 'good',
  closed: 'good',
  healthy: 'good',
  enabled: 'good',
  'breaker open': 'bad',
  'breakers opened': 'bad',
  recovering: 'warn',
  queued: 'idle',
  pending: 'idle',
  running: 'busy',
  submitted: 'busy',
  sending: 'busy',
  storing: 'busy',
  processing: 'busy',
  in_progress: 'busy',
  half_open: 'warn',
  'half-open': 'warn',
  expiring: 'warn',
  rotated: 'warn',
  suspended: 'bad',
  failed: 'bad',
  open: 'bad',
  revoked: 'bad',
  warning: 'warn',
  critical: 'bad',
  disabled: 'idle',
  expired: 'idle',
  cancelled: 'idle',
}

/** A state as a word and a shape, so that it is not told by colour alone. */
export function Status({ state, tone = TONES[state] ?? 'idle' }: { readonly state: string; readonly tone?: Tone }) {
  return (
    <span class={`status status-${tone}`}>
      <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true" focusable="false">
        <path d={SHAPES[tone]} />
      </svg>
      {state.replaceAll('_', ' ')}
    </span>
  )
}

/** A disc, a triangle, a diamond, a half disc and a ring. */
const SHAPES: Readonly<Record<Tone, string>> = {
  good: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0z',
  warn: 'M5 0l5 10H0z',
  bad: 'M5 0l5 5-5 5-5-5z',
  busy: 'M5 0a5 5 0 1 0 0 10V8.6A3.6 3.6 0 1 1 5 1.4z',
  idle: 'M5 0a5 5 0 1 0 0 10A5 5 0 0 0 5 0zm0 1.6a3.4 3.4 0 1 1 0 6.8 3.4 3.4 0 0 1 0-6.8z',
}
