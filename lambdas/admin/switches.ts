import { createCatalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { Setting, Switches } from '#core/catalogue/switches.ts'

/** Who set the latest of some switches, and when in Unix seconds; nulls where the configuration decides. */
export function latestSwitch(set: Readonly<Record<string, Setting<unknown> | undefined>> | undefined) {
  const settings = Object.values(set ?? {}).flatMap((setting) => setting ?? [])
  const latest = settings.toSorted((left, right) => right.at - left.at)[0]
  return { switched_by: latest?.by ?? null, switched_at: latest === undefined ? null : Math.trunc(latest.at) }
}

const ANY = { directOnly: false }

/** A sentence about the enabled models of which every channel is disabled; undefined without one. */
export function unservedModels(config: GatewayConfig, switches: Switches): string | undefined {
  const catalogue = createCatalogue(config, switches)
  const models = catalogue.listModels(null).flatMap(({ id }) => {
    const enabled = [...catalogue.videoChannels(id, ANY), ...catalogue.relayChannels(id)]
    const configured = [...catalogue.configuredVideoChannels(id, ANY), ...catalogue.configuredRelayChannels(id)]
    return enabled.length === 0 && configured.length > 0 ? [id] : []
  })
  return models.length === 0
    ? undefined
    : `no enabled channel serves ${models.join(', ')}: requests are refused, and video jobs wait`
}
