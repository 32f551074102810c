import { createCatalogue } from '#core/catalogue/catalogue.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Setting, type SwitchChange, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { isoTime } from './operation.ts'

const ANY = { directOnly: false }

/** A sentence about the enabled models of which every channel is disabled; undefined without one. */
export function unservedModels(config: GatewayConfig, switches: Switches): string | undefined {
  const catalogue = createCatalogue(config, switches)
  const models = catalogue.listModels(null).flatMap(({ id, kind }) => {
    const enabled = [...catalogue.videoChannels(id, ANY), ...catalogue.relayChannels(id)]
    const configured = [...catalogue.configuredVideoChannels(id, ANY), ...catalogue.configuredRelayChannels(id)]
    return enabled.length === 0 && configured.length > 0 ? [{ id, outcome: kind === 'video' ? WAIT : REFUSED }] : []
  })
  const outcomes = [REFUSED, WAIT].filter((each) => models.some(({ outcome }) => outcome === each))
  return models.length === 0
    ? undefined
    : `no enabled channel serves ${models.map(({ id }) => id).join(', ')}: ${outcomes.join(', and ')}`
}

const REFUSED = 'requests are refused'
const WAIT = 'video jobs wait'

/** What is set for a channel or for a model. */
type Settings = {
  readonly enabled?: Setting<boolean> | undefined
  readonly weight?: Setting<number> | undefined
  readonly priority?: Setting<number> | undefined
}

/** What is set for a channel or a model, by whom and since when, in a fixed order. */
export function settingsOf({ channels, models }: Switches, { kind, id }: Pick<SwitchChange, 'kind' | 'id'>) {
  const set: Settings = (kind === 'channel' ? switchesOf(channels, id) : switchesOf(models, id)) ?? {}
  const state = set.enabled && { ...set.enabled, value: stateOf(set.enabled.value) }
  const all: Readonly<Record<string, Setting<string | number> | undefined>> = {
    state,
    weight: set.weight,
    priority: set.priority,
  }
  return (['state', 'weight', 'priority'] as const).flatMap((setting) => {
    const made = all[setting]
    return made === undefined ? [] : [{ setting, value: made.value, by: made.by, since: isoTime(made.at * 1000) }]
  })
}

/** The state of a channel or a model that is one or the other. */
export function stateOf(enabled: boolean): 'enabled' | 'disabled' {
  return enabled ? 'enabled' : 'disabled'
}
