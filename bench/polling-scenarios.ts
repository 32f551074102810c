import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { UsualSeconds } from '#core/jobs/generation-times.ts'
import { earlySeconds, type Law } from './lognormal.ts'

/** What the providers' videos of five seconds take, and classes half and a bit more than three times as slow. */
export const STANDARD: Law = { median: 90, p95: 240 }
export const FAST: Law = { median: 45, p95: 120 }
export const TWICE: Law = { median: 180, p95: 480 }
export const SLOW: Law = { median: 300, p95: 800 }
export const NARROW: Law = { median: 90, p95: 135 }

const common = {
  id: 'bench',
  base_url: 'https://upstream.example',
  api_key: '',
  models: {},
  priority: 0,
  weight: 1,
  max_open_jobs: 1_000_000,
  deadline_minutes: 60,
  reference_checks: false,
}
export const P1: VideoChannel = { ...common, provider: 'p1', async_header: 'X-Async', poll: {} }
export const P2: VideoChannel = {
  ...common,
  provider: 'p2',
  route: 'direct',
  paths: { submit: '/s', poll: '/p/{id}' },
  poll: {},
}
export const everySeconds = (seconds: number): VideoChannel => ({
  ...P2,
  poll: { first_seconds: seconds, interval_seconds: seconds },
})

/** What the gateway would say of a class with this law. */
export const believed = (law: Law): UsualSeconds => ({ early: Math.round(earlySeconds(law)), median: law.median })

/** Jobs of one or several classes, as they come in. */
type Scenario = {
  readonly name: string
  readonly channel: VideoChannel
  readonly isReported?: boolean
  /** The class and the law of the job of this number. */
  readonly lawOf: (job: number, random: () => number) => { readonly className: string; readonly law: Law }
}

const mixture: Scenario['lawOf'] = (_job, random) => {
  const law = [FAST, STANDARD, SLOW][Math.floor(3 * random())] ?? STANDARD
  return { className: `${law.median}`, law }
}
/** Half as fast and back again, every 300 jobs. */
const shifting: Scenario['lawOf'] = (job) => ({ className: 'shifting', law: job % 600 < 300 ? STANDARD : TWICE })
const bimodal: Scenario['lawOf'] = (_job, random) => ({
  className: 'bimodal',
  law: random() < 0.5 ? { median: 40, p95: 56 } : { median: 200, p95: 280 },
})

export const SCENARIOS: readonly Scenario[] = [
  { name: 'P2, one class', channel: P2, lawOf: () => ({ className: 'one', law: STANDARD }) },
  { name: 'P2, mixture', channel: P2, lawOf: mixture },
  { name: 'P2, mixture, no times reported', channel: P2, lawOf: mixture, isReported: false },
  { name: 'P2, shifting', channel: P2, lawOf: shifting },
  { name: 'P2, two peaks', channel: P2, lawOf: bimodal },
  { name: 'P1, one class', channel: P1, lawOf: () => ({ className: 'one', law: STANDARD }) },
  { name: 'P1, mixture', channel: P1, lawOf: mixture },
]
