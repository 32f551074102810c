import { isDeepStrictEqual } from 'node:util'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'

/** One difference: its path, such as `models.famB-1.0-r2v.prices`, and the values before and after. */
export type ConfigChange = {
  readonly change: 'added' | 'removed' | 'changed'
  readonly path: string
  /** Undefined when it was added. */
  readonly deployed: unknown
  /** Undefined when it was removed. */
  readonly file: unknown
}

/** What a deployment of `file` would change. Models and channels are matched by id, not by order. */
export function compareConfigs(deployed: GatewayConfig, file: GatewayConfig): ConfigChange[] {
  const { channels: deployedChannels, models: deployedModels, $schema: _, ...deployedRest } = deployed
  const { channels, models, $schema: __, ...rest } = file
  return [
    ...compareRows('models', deployedModels, models),
    ...compareRows('channels', deployedChannels, channels),
    ...compareMembers('', deployedRest, rest),
  ]
}

type Row = { readonly id: string }

function compareRows(section: string, deployed: readonly Row[], file: readonly Row[]): ConfigChange[] {
  const ids = new Set([...deployed, ...file].map(({ id }) => id))
  return [...ids].flatMap((id) => {
    const before = deployed.find((row) => row.id === id)
    const after = file.find((row) => row.id === id)
    const path = `${section}.${id}`
    if (before === undefined || after === undefined) {
      return [
        {
          change: before === undefined ? ('added' as const) : ('removed' as const),
          path,
          deployed: before,
          file: after,
        },
      ]
    }
    return compareMembers(`${path}.`, before, after)
  })
}

function compareMembers(prefix: string, deployed: object, file: object): ConfigChange[] {
  const before = new Map(Object.entries(deployed))
  const after = new Map(Object.entries(file))
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => !isDeepStrictEqual(before.get(name), after.get(name)))
    .map((name) => ({
      change: !before.has(name) ? 'added' : after.has(name) ? 'changed' : 'removed',
      path: `${prefix}${name}`,
      deployed: before.get(name),
      file: after.get(name),
    }))
}

/**
 * The running configuration of a local host, with `simulator` in place of the addresses that the host chose, so that these are not
 * differences.
 */
export function withSimulators(running: GatewayConfig, file: GatewayConfig): GatewayConfig {
  const simulated = new Map(
    file.channels.filter(({ base_url }) => base_url === 'simulator').map((channel) => [channel.id, channel]),
  )
  const addresses = running.channels.filter(({ id }) => simulated.has(id)).map(({ base_url }) => base_url)
  return {
    ...running,
    trusted_origins: running.trusted_origins.filter((origin) => !addresses.includes(origin)),
    channels: running.channels.map((channel) => {
      const asWritten = simulated.get(channel.id)
      return asWritten === undefined
        ? channel
        : { ...channel, base_url: asWritten.base_url, api_key: asWritten.api_key }
    }),
  }
}
