import { GATEWAY_KEY, type GatewayProcess, startGateway } from './gateway-process.ts'
import { startPortkey } from './portkey-process.ts'
import { ADDED_COST, GATEWAY_MODELS, type Pricing } from './relay-config.ts'
import type { Upstream } from './upstream-processes.ts'
import { type Pace, UPSTREAM_MODEL } from './workload.ts'

/** What is compared, in the order of the tables. */
export const TARGETS = ['direct', 'portkey', 'priced', 'free'] as const
export type TargetName = (typeof TARGETS)[number]

/** How a target is called in the tables. */
export const TARGET_TITLES: Readonly<Record<TargetName, string>> = {
  direct: 'direct',
  portkey: 'Portkey 1.15.2',
  priced: 'ours, keys + quota + routing',
  free: 'ours, price zero',
}

/** A target that is ready for load. */
export type RunningTarget = {
  /** Where requests of one pace go, and what they carry. */
  entry(pace: Pace): {
    readonly origin: string
    readonly serverPid: number
    readonly headers: Readonly<Record<string, string>>
    readonly model: string
    /** Bytes that the target adds to the JSON answer. Default: none. */
    readonly addedJsonBytes?: number
  }
  stop(): Promise<void>
}

/** The upstream of each pace. */
export type Upstreams = Readonly<Record<Pace, Upstream>>

/** Starts a target in front of the upstreams; `direct` is the upstreams themselves. */
export async function startTarget(name: TargetName, upstreams: Upstreams): Promise<RunningTarget> {
  switch (name) {
    case 'direct':
      return direct(upstreams)
    case 'portkey':
      return await portkey(upstreams)
    case 'priced':
    case 'free':
      return await gateway(name, upstreams)
    default:
      return name satisfies never
  }
}

function direct(upstreams: Upstreams): RunningTarget {
  return {
    entry: (pace) => {
      const { origin, pid } = upstreams[pace]
      return { origin, serverPid: pid, headers: { authorization: 'Bearer none' }, model: UPSTREAM_MODEL }
    },
    stop: async () => undefined,
  }
}

/** Its client names provider and upstream with every request. */
async function portkey(upstreams: Upstreams): Promise<RunningTarget> {
  const { origin, pid, stop } = await startPortkey()
  return {
    entry: (pace) => ({
      origin,
      serverPid: pid,
      headers: {
        authorization: 'Bearer none',
        'x-portkey-provider': 'openai',
        'x-portkey-custom-host': `${upstreams[pace].origin}/v1`,
      },
      model: UPSTREAM_MODEL,
    }),
    stop,
  }
}

async function gateway(pricing: Pricing, upstreams: Upstreams): Promise<RunningTarget> {
  const origins = { burst: upstreams.burst.origin, paced: upstreams.paced.origin }
  const started = await startGateway(origins)
  return { entry: gatewayEntry(started, pricing), stop: started.stop }
}

/** Where requests to our gateway go, and what they carry. */
export function gatewayEntry(
  { origin, pid }: Pick<GatewayProcess, 'origin' | 'pid'>,
  pricing: Pricing,
): RunningTarget['entry'] {
  return (pace) => ({
    origin,
    serverPid: pid,
    headers: { authorization: `Bearer ${GATEWAY_KEY}` },
    model: GATEWAY_MODELS[pricing][pace],
    addedJsonBytes: ADDED_COST[pricing].length,
  })
}
