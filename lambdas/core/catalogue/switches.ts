import type { GatewayConfig } from './gateway-config.ts'

/** One value that an operator set without a deployment. */
export type Setting<Value> = {
  readonly value: Value
  /** Who set the value, as the audit log names the actor. */
  readonly by: string
  /** When, in Unix seconds. */
  readonly at: number
}

/** What an operator set for a channel. A setting that is absent leaves the configuration in force. */
export type ChannelSwitches = {
  /** A disabled channel gets no new work; its open jobs are still polled. */
  readonly enabled?: Setting<false> | undefined
  readonly weight?: Setting<number> | undefined
  readonly priority?: Setting<number> | undefined
}

/** What an operator set for a model. Clients do not see a disabled model. */
export type ModelSwitches = { readonly enabled?: Setting<boolean> | undefined }

/** Every switch, by the id of its channel or model. Ids may be missing from the configuration: switches outlive deployments. */
export type Switches = {
  readonly channels: Readonly<Record<string, ChannelSwitches>>
  readonly models: Readonly<Record<string, ModelSwitches>>
}

/** The switches of a deployment in which nobody has set one. */
export const NO_SWITCHES: Switches = { channels: {}, models: {} }

/** What is set for an id; empty if nothing is. An id may be a name that every object has, such as `constructor`. */
export function switchesOf<Set extends object>(sets: Readonly<Record<string, Set>>, id: string): Set | undefined {
  return Object.hasOwn(sets, id) ? sets[id] : undefined
}

/**
 * The configuration as the switches make it: without disabled channels, and with the weights, priorities and model states that were
 * set. Switches of unknown ids have no effect.
 */
export function applySwitches(config: GatewayConfig, { channels, models }: Switches): GatewayConfig {
  return {
    ...config,
    channels: config.channels.flatMap((channel) => {
      const { enabled, weight, priority } = switchesOf(channels, channel.id) ?? {}
      const set = { weight: weight?.value ?? channel.weight, priority: priority?.value ?? channel.priority }
      return enabled?.value === false ? [] : [{ ...channel, ...set }]
    }),
    models: config.models.map((model) => ({
      ...model,
      enabled: switchesOf(models, model.id)?.enabled?.value ?? model.enabled,
    })),
  }
}

/** What an operator asks for a channel. `enable` ends `disable` alone; `clear` ends every setting. */
export type ChannelChange = { readonly kind: 'channel'; readonly id: string } & (
  | { readonly action: 'disable' | 'enable' | 'clear' }
  | { readonly action: 'weight' | 'priority'; readonly value: number }
)

/**
 * What an operator asks for a model. `enable` leaves a setting only for a model that the configuration disables, so that a later
 * deployment can still disable the others.
 */
export type ModelChange = { readonly kind: 'model'; readonly id: string } & (
  | { readonly action: 'disable' | 'clear' }
  | { readonly action: 'enable'; readonly isEnabledByConfiguration: boolean }
)

/** One change of the switches. */
export type SwitchChange = ChannelChange | ModelChange

/** Who changes a switch, and when, in Unix seconds. */
export type SwitchedBy = Pick<Setting<unknown>, 'by' | 'at'>

/**
 * The switches after a change. They are the same object if the change changes nothing, so that the setting keeps its first author and
 * time.
 */
export function changeSwitches(switches: Switches, change: SwitchChange, by: SwitchedBy): Switches {
  if (change.kind === 'channel') {
    const before = switchesOf(switches.channels, change.id) ?? {}
    const after = changedChannel(before, change, by)
    return after === before ? switches : { ...switches, channels: withSet(switches.channels, change.id, after) }
  }
  const before = switchesOf(switches.models, change.id) ?? {}
  const after = changedModel(before, change, by)
  return after === before ? switches : { ...switches, models: withSet(switches.models, change.id, after) }
}

function changedChannel(before: ChannelSwitches, change: ChannelChange, by: SwitchedBy): ChannelSwitches {
  switch (change.action) {
    case 'disable':
      return before.enabled === undefined ? { ...before, enabled: { value: false, ...by } } : before
    case 'enable': {
      const { enabled, ...others } = before
      return enabled === undefined ? before : others
    }
    case 'weight':
    case 'priority': {
      const { action, value } = change
      return before[action]?.value === value ? before : { ...before, [action]: { value, ...by } }
    }
    case 'clear':
      return isEmpty(before) ? before : {}
    default:
      return change satisfies never
  }
}

function changedModel(before: ModelSwitches, change: ModelChange, by: SwitchedBy): ModelSwitches {
  switch (change.action) {
    case 'disable':
      return before.enabled?.value === false ? before : { enabled: { value: false, ...by } }
    case 'enable': {
      if (change.isEnabledByConfiguration) {
        return isEmpty(before) ? before : {}
      }
      return before.enabled?.value === true ? before : { enabled: { value: true, ...by } }
    }
    case 'clear':
      return isEmpty(before) ? before : {}
    default:
      return change satisfies never
  }
}

function isEmpty(set: object): boolean {
  return Object.values(set).every((value) => value === undefined)
}

/** An id without settings is left out. */
function withSet<Set extends object>(sets: Readonly<Record<string, Set>>, id: string, set: Set): Record<string, Set> {
  const { [id]: _, ...others } = sets
  return isEmpty(set) ? others : { ...others, [id]: set }
}
