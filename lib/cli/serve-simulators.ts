import { readFileSync } from 'node:fs'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { DataDirectory } from '#local/data-directory.ts'
import { type SimulatorPlace, startSimulators } from '#local/start-simulators.ts'
import { loadGatewayConfig } from '../config/load-gateway-config.ts'

/** `${P1_BASE_URL:-simulator}`: an upstream from a variable, or a simulator. */
const SIMULATED_VARIABLE = /^\$\{([A-Z][A-Z0-9_]*):-simulator\}$/

/**
 * The environment variables for the upstreams of a configuration file, by channel. Excludes channels whose `base_url` does not
 * default to a simulator.
 */
export function upstreamVariables(configFile: string): ReadonlyMap<string, string> {
  const channels = parseDocument(readFileSync(configFile, 'utf8')).get('channels')
  const found = new Map<string, string>()
  for (const channel of isSeq(channels) ? channels.items : []) {
    const [id, baseUrl] = ['id', 'base_url'].map((name) => (isMap(channel) ? channel.get(name, true) : undefined))
    const name = isScalar(baseUrl) ? SIMULATED_VARIABLE.exec(String(baseUrl.value))?.[1] : undefined
    if (isScalar(id) && name !== undefined) {
      found.set(String(id.value), name)
    }
  }
  return found
}

type SimulatorsOptions = SimulatorPlace & { readonly configFile: string; readonly dataDirectory: string }

type ServedSimulators = {
  /** Lines such as `P1_BASE_URL=http://127.0.0.1:9700`, to export before the deployment. */
  readonly variables: readonly string[]
  close(): Promise<void>
}

/**
 * Starts simulated upstreams for a deployment to an emulator, one for each channel whose `base_url` is a variable that defaults
 * to a simulator.
 * @throws GatewayConfigError, and the server's error if a port is taken.
 */
export async function serveSimulators({
  configFile,
  dataDirectory,
  ...place
}: SimulatorsOptions): Promise<ServedSimulators> {
  const { config } = loadGatewayConfig({ file: configFile, environment: {}, mode: 'local' })
  const variables = upstreamVariables(configFile)
  const wanted = { ...config, channels: config.channels.filter(({ id }) => variables.has(id)) }
  const started = await startSimulators(wanted, new DataDirectory(dataDirectory), place)
  return {
    variables: assignments(started.config, variables),
    close: async () => {
      await Promise.all(started.simulators.map((simulator) => simulator.close()))
    },
  }
}

function assignments({ channels }: GatewayConfig, variables: ReadonlyMap<string, string>): string[] {
  return channels.map(({ id, base_url }) => `${variables.get(id)}=${base_url}`)
}
