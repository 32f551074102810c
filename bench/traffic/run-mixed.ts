import { Agent } from 'node:http'
import type { Mark } from './mark.ts'
import { kindNameOf } from './marked-request.ts'
import { type Leaving, type Outcome, sendMarked } from './send-marked.ts'
import type { TrafficTenant } from './traffic-tenants.ts'

type Mixed = {
  readonly origin: string
  readonly tenants: readonly TrafficTenant[]
  readonly requests: number
  /** Requests at the same time. */
  readonly connections: number
  /** Share of the clients that leave. */
  readonly leavingShare: number
  /** From 0 up to 1. */
  readonly random: () => number
  /** Hears of the end of each request, with the number of those that ended. */
  readonly onEnd: (ended: number) => void
}

/** Longest time after which a client leaves that does not wait for the first bytes. */
const PATIENCE_MILLISECONDS_MAX = 12

/** Sends mixed requests of all tenants in random order, some of whose clients leave. */
export async function runMixed({
  origin,
  tenants,
  requests,
  connections,
  leavingShare,
  random,
  onEnd,
}: Mixed): Promise<Outcome[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const outcomes: Outcome[] = []
  let next = 0
  const client = async () => {
    while (next < requests) {
      const mark: Mark = { tenant: Math.floor(random() * tenants.length), request: next }
      next += 1
      const leaving = random() < leavingShare ? someLeaving(random) : undefined
      const key = tenants[mark.tenant]?.key ?? ''
      outcomes.push(await sendMarked(origin, agent, { mark, kind: kindNameOf(mark), key, leaving }))
      onEnd(outcomes.length)
    }
  }
  await Promise.all(Array.from({ length: connections }, client))
  agent.destroy()
  return outcomes
}

function someLeaving(random: () => number): Leaving {
  const choice = random()
  if (choice < 0.2) {
    return 'in the body'
  }
  return choice < 0.6 ? 'at the first bytes' : { afterMilliseconds: random() * PATIENCE_MILLISECONDS_MAX }
}
