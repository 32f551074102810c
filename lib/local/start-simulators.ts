import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Channel, VideoChannel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { DataDirectory } from './data-directory.ts'
import { startP1Simulator } from './simulators/p1-simulator.ts'
import { startP2ProxySimulator } from './simulators/p2-proxy-simulator.ts'
import { startP2Simulator } from './simulators/p2-simulator.ts'
import type { Simulator } from './simulators/simulator-server.ts'

/** The word in a channel's `base_url` that asks for a simulated upstream. */
const SIMULATOR = 'simulator'

const PORTS_FILE = 'simulator-ports.json'
const ports = z.record(z.string(), z.number())

export type SimulatedUpstreams = {
  /** The configuration with every simulator's real address in it, and its results trusted. */
  readonly config: GatewayConfig
  readonly simulators: readonly Simulator[]
}

/**
 * Starts a separate HTTP server for every channel that asks for one. Ports and tasks outlive a restart,
 * so that jobs in flight find their upstream again.
 */
export async function startSimulators(config: GatewayConfig, data: DataDirectory): Promise<SimulatedUpstreams> {
  const simulators: Simulator[] = []
  const lastPorts = readPorts(data)
  const startFor = async (channel: VideoChannel): Promise<VideoChannel> => {
    const options = { stateFile: data.file(`simulator-${channel.id}.json`) }
    const lastPort = lastPorts[channel.id] ?? 0
    const simulator = await start(channel, { ...options, port: lastPort }).catch(() => start(channel, options))
    simulators.push(simulator)
    lastPorts[channel.id] = simulator.port
    return { ...channel, base_url: simulator.baseUrl, api_key: '' }
  }
  const resolve = async (channel: Channel): Promise<Channel[]> => {
    if (channel.base_url !== SIMULATOR) {
      return [channel]
    }
    return channel.provider === 'openai' ? [] : [await startFor(channel)]
  }
  const channels = (await Promise.all(config.channels.map(resolve))).flat()
  data.writeJson(PORTS_FILE, lastPorts)
  const trusted = simulators.map(({ baseUrl }) => baseUrl)
  return { config: { ...config, channels, trusted_origins: [...config.trusted_origins, ...trusted] }, simulators }
}

type StartOptions = { readonly stateFile: string; readonly port?: number }

function start(channel: VideoChannel, options: StartOptions): Promise<Simulator> {
  if (channel.provider === 'p1') {
    return startP1Simulator({ ...options, asyncHeader: channel.async_header })
  }
  return channel.route === 'proxy' ? startP2ProxySimulator(options) : startP2Simulator(options)
}

function readPorts(data: DataDirectory): Record<string, number> {
  const file = data.file(PORTS_FILE)
  return existsSync(file) ? ports.parse(JSON.parse(readFileSync(file, 'utf8'))) : {}
}
