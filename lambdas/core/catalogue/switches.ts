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
