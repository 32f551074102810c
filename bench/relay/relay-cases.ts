import type { LoadPlan } from './load-plan.ts'
import type { Pace } from './workload.ts'

/** One kind of load that every target gets. */
export type RelayCase = {
  readonly name: string
  readonly plan: LoadPlan
  readonly pace: Pace
  readonly stream: boolean
}

/** Busy connections, from a single client to more than one process can keep up with. */
const CONNECTIONS = [1, 16, 64] as const

/** Below what every target can do, so that waiting is not its own doing; on as many sockets as the largest closed loop. */
const OPEN_LOOP = { kind: 'open', connections: 64, perSecond: 500 } as const

/** Every case, in the order of the tables. */
export const RELAY_CASES: readonly RelayCase[] = [
  ...CONNECTIONS.map((connections) => closed('JSON', connections, { pace: 'burst', stream: false })),
  { name: 'JSON, 500 requests/s', plan: OPEN_LOOP, pace: 'burst', stream: false },
  ...CONNECTIONS.map((connections) => closed('stream', connections, { pace: 'burst', stream: true })),
  ...([1, 64] as const).map((connections) => closed('paced stream', connections, { pace: 'paced', stream: true })),
]

function closed(kind: string, connections: number, rest: Pick<RelayCase, 'pace' | 'stream'>): RelayCase {
  return { name: `${kind}, ${connections}`, plan: { kind: 'closed', connections }, ...rest }
}
