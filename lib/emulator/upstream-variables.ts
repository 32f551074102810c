import { readFileSync } from 'node:fs'
import { isMap, isScalar, isSeq, parseDocument } from 'yaml'

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
