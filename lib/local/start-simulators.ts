import * as z from 'zod'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { SIMULATOR } from '../config/load-gateway-config.ts'
import { startOpenAiSimulator } from '../simulators/openai.ts'
import type { Simulator } from '../simulators/server.ts'
import type { TaskUpstreamOptions } from '../simulators/task-upstream.ts'
import { startVideoSimulator } from '../simulators/video-simulators.ts'
import type { DataDirectory } from './data-directory.ts'

const PORTS_FILE = 'simulator-ports.json'
const ports = z.record(z.string(), z.int().min(1).max(65_535))

/** Running simulated upstreams. */
export type SimulatedUpstreams = {
  /** The configuration with the address of every simulator, whose results are trusted. */
  readonly config: GatewayConfig
  readonly simulators: readonly Simulator[]
  /** What each channel talks to. */
  readonly addresses: readonly { readonly id: string; readonly base_url: string; readonly simulated: boolean }[]
}

/** The addresses and the key of simulated upstreams. */
export type SimulatorPlace = {
  /** Address of this machine that the gateway can reach; default: 127.0.0.1. */
  readonly host?: string
  /** Port of the first channel; further channels get the next ports. Default: free ports, the previous ones if possible. */
  readonly portBase?: number
  /** The only accepted key, and the environment variable in which the gateway finds it; without it, any key is accepted. */
  readonly apiKey?: { readonly name: string; readonly value: string }
  /** How long a simulated video takes; four seconds by default. */
  readonly videoMilliseconds?: number | undefined
}

/**
 * Starts a separate HTTP server for every simulated channel. Ports and tasks survive a restart, so that jobs in flight find their upstream
 * again.
 * @throws the server's error if a port from `portBase` on is in use; servers that have started are closed.
 */
export async function startSimulators(
  config: GatewayConfig,
  data: DataDirectory,
  { host, portBase, apiKey, videoMilliseconds }: SimulatorPlace = {},
): Promise<SimulatedUpstreams> {
  const simulators: Simulator[] = []
  const trusted: string[] = []
  const lastPorts = data.readJson(PORTS_FILE, ports) ?? {}
  const simulated = config.channels.filter(({ base_url }) => base_url === SIMULATOR)
  const resolve = async (channel: Channel): Promise<Channel> => {
    const index = simulated.indexOf(channel)
    if (index === -1) {
      return channel
    }
    const options = {
      stateFile: data.file(`simulator-${channel.id}.json`),
      ...(host === undefined ? {} : { host }),
      ...(apiKey === undefined ? {} : { apiKey: apiKey.value }),
      ...(videoMilliseconds === undefined ? {} : { behaviour: hurried(videoMilliseconds) }),
    }
    const lastPort = lastPorts[channel.id] ?? 0
    const simulator =
      portBase === undefined
        ? await start(channel, { ...options, port: lastPort }).catch(() => start(channel, options))
        : await start(channel, { ...options, port: portBase + index })
    simulators.push(simulator)
    lastPorts[channel.id] = simulator.port
    if (channel.provider !== 'openai') {
      // Only videos are downloaded from their upstream; relayed replies contain their bytes.
      trusted.push(simulator.baseUrl)
    }
    return { ...channel, base_url: simulator.baseUrl, api_key: apiKey === undefined ? '' : `\${${apiKey.name}}` }
  }
  const channels = await allOrNone(config.channels.map(resolve), simulators)
  data.writeJson(PORTS_FILE, lastPorts)
  const simulatedIds = new Set(simulated.map(({ id }) => id))
  const addresses = channels.map(({ id, base_url }) => ({ id, base_url, simulated: simulatedIds.has(id) }))
  const running = { ...config, channels, trusted_origins: [...config.trusted_origins, ...trusted] }
  return { config: running, simulators, addresses }
}

/** A quarter of the time in the queue, as usually, and any number of polls. */
function hurried(videoMilliseconds: number): NonNullable<TaskUpstreamOptions['behaviour']> {
  const seconds = videoMilliseconds / 1000
  return { queueSeconds: seconds / 4, runSeconds: (seconds * 3) / 4, pollsPerSecond: Number.POSITIVE_INFINITY }
}

/** An open server would keep the process alive. */
async function allOrNone<Value>(starts: readonly Promise<Value>[], simulators: readonly Simulator[]): Promise<Value[]> {
  const ends = await Promise.allSettled(starts)
  const failure = ends.find((end) => end.status === 'rejected')
  if (failure !== undefined) {
    await Promise.all(simulators.map((simulator) => simulator.close()))
    throw failure.reason
  }
  return ends.flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []))
}

function start(channel: Channel, options: TaskUpstreamOptions): Promise<Simulator> {
  if (channel.provider !== 'openai') {
    return startVideoSimulator(channel, options)
  }
  // An upstream of relayed requests is stateless, and its time is that of its words.
  const { stateFile: _, behaviour: __, ...place } = options
  return startOpenAiSimulator(place)
}
