import { existsSync, readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Channel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { DataDirectory } from './data-directory.ts'
import { startOpenAiSimulator } from './simulators/openai-simulator.ts'
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
  const trusted: string[] = []
  const lastPorts = readPorts(data)
  const resolve = async (channel: Channel): Promise<Channel> => {
    if (channel.base_url !== SIMULATOR) {
      return channel
    }
    const options = { stateFile: data.file(`simulator-${channel.id}.json`) }
    const lastPort = lastPorts[channel.id] ?? 0
    const simulator = await start(channel, { ...options, port: lastPort }).catch(() => start(channel, options))
    simulators.push(simulator)
    lastPorts[channel.id] = simulator.port
    if (channel.provider !== 'openai') {
      // Videos are downloaded from their upstream; what is relayed holds its own bytes.
      trusted.push(simulator.baseUrl)
    }
    return { ...channel, base_url: simulator.baseUrl, api_key: '' }
  }
  const channels = await Promise.all(config.channels.map(resolve))
  data.writeJson(PORTS_FILE, lastPorts)
  return { config: { ...config, channels, trusted_origins: [...config.trusted_origins, ...trusted] }, simulators }
}

type StartOptions = { readonly stateFile: string; readonly port?: number }

function start(channel: Channel, options: StartOptions): Promise<Simulator> {
  switch (channel.provider) {
    case 'p1':
      return startP1Simulator({ ...options, asyncHeader: channel.async_header })
    case 'p2':
      return channel.route === 'proxy' ? startP2ProxySimulator(options) : startP2Simulator(options)
    case 'openai':
      // It keeps nothing, so it needs no state file.
      return startOpenAiSimulator(options.port === undefined ? {} : { port: options.port })
    default:
      return channel satisfies never
  }
}

function readPorts(data: DataDirectory): Record<string, number> {
  const file = data.file(PORTS_FILE)
  return existsSync(file) ? ports.parse(JSON.parse(readFileSync(file, 'utf8'))) : {}
}
