import { AdminNotFoundError } from '#core/admin/errors.ts'
import { emptyRequest, parseRequest } from '#core/admin/parse-request.ts'
import { changeChannelRequest, changeModelRequest } from '#core/admin/requests.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type ChannelChange, type SwitchChange, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { latestSwitch, unservedModels } from '#lambdas/admin/switches.ts'
import { actorOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { changeSwitchesTogether, readSwitches } from '#store/switches.ts'
import { pathId, type WriteContext, type WriteOperation } from './write-context.ts'

/** A channel or a model, by its id. */
type Target = Pick<SwitchChange, 'kind' | 'id'>

/** The configuration. @throws AdminNotFoundError for an id that it does not have. */
export function requireConfigured({ openCatalogue }: WriteContext, { kind, id }: Target): GatewayConfig {
  const { config } = openCatalogue()
  if (!(kind === 'channel' ? config.channels : config.models).some((each) => each.id === id)) {
    throw new AdminNotFoundError(`the configuration has no such ${kind}: \`GET /admin/v1/channels\` lists them`)
  }
  return config
}

/** Clears the switches of a target, and returns all that are left. @throws AdminNotFoundError for an id without switches that the configuration does not have. */
export async function clearSwitches(event: ApiEvent, context: WriteContext, target: Target): Promise<Switches> {
  parseRequest(emptyRequest(), event.json)
  const { switches } = await readSwitches(context.table)
  const { kind, id } = target
  if (switchesOf<object>(kind === 'channel' ? switches.channels : switches.models, id) === undefined) {
    requireConfigured(context, target)
  }
  return await switchTogether(event, context, [{ ...target, action: 'clear' }])
}

/** Makes all of these changes or none, and returns the switches after them. @throws StoreRefusal `changed_meanwhile`. */
export async function switchTogether(
  event: ApiEvent,
  { table, nowMilliseconds }: WriteContext,
  changes: readonly SwitchChange[],
): Promise<Switches> {
  const changer = { actor: actorOf(event), at: nowMilliseconds() }
  return (await changeSwitchesTogether(table, changes, changer)).after
}

/** What is in force for a channel now. */
export function channelBody(id: string, switches: Switches, config: GatewayConfig) {
  const { enabled, weight, priority } = switchesOf(switches.channels, id) ?? {}
  const configured = config.channels.find((channel) => channel.id === id)
  return {
    object: 'channel.switches',
    id,
    disabled: enabled !== undefined,
    weight: weight?.value ?? configured?.weight ?? null,
    priority: priority?.value ?? configured?.priority ?? null,
    ...latestSwitch({ enabled, weight, priority }),
    warnings: warnings(config, switches),
  }
}

/** What is in force for a model now. */
export function modelBody(id: string, switches: Switches, config: GatewayConfig) {
  const { enabled } = switchesOf(switches.models, id) ?? {}
  const isEnabled = enabled?.value ?? config.models.find((model) => model.id === id)?.enabled ?? false
  return {
    object: 'model.switches',
    id,
    disabled: !isEnabled,
    ...latestSwitch({ enabled }),
    warnings: warnings(config, switches),
  }
}

function warnings(config: GatewayConfig, switches: Switches): readonly string[] {
  return [unservedModels(config, switches)].flatMap((warning) => warning ?? [])
}

/** `PATCH /admin/v1/channels/{channel_id}`: all of the changes or none; every instance sees them within 15 seconds. */
export const changeChannel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'channel_id', 'channel')
  const { disabled, weight, priority } = parseRequest(changeChannelRequest, event.json)
  const config = requireConfigured(context, { kind: 'channel', id })
  const target = { kind: 'channel', id } as const
  const changes: ChannelChange[] = [
    ...(disabled === undefined ? [] : [{ ...target, action: disabled ? ('disable' as const) : ('enable' as const) }]),
    ...(weight === undefined ? [] : [{ ...target, action: 'weight' as const, value: weight }]),
    ...(priority === undefined ? [] : [{ ...target, action: 'priority' as const, value: priority }]),
  ]
  return { body: channelBody(id, await switchTogether(event, context, changes), config) }
}

/** `DELETE .../switches` of a channel: the configuration decides again. One that left the configuration can be cleared too. */
export const clearChannel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'channel_id', 'channel')
  const switches = await clearSwitches(event, context, { kind: 'channel', id })
  return { body: channelBody(id, switches, context.openCatalogue().config) }
}

/** `PATCH /admin/v1/models/{model}`: every instance sees it within 15 seconds. */
export const changeModel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'model', 'model')
  const { disabled } = parseRequest(changeModelRequest, event.json)
  const config = requireConfigured(context, { kind: 'model', id })
  const isEnabledByConfiguration = config.models.some((model) => model.id === id && model.enabled)
  const target = { kind: 'model', id } as const
  const change: SwitchChange = disabled
    ? { ...target, action: 'disable' }
    : { ...target, action: 'enable', isEnabledByConfiguration }
  return { body: modelBody(id, await switchTogether(event, context, [change]), config) }
}

/** `DELETE .../switches` of a model: the configuration decides again. One that left the configuration can be cleared too. */
export const clearModel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'model', 'model')
  const switches = await clearSwitches(event, context, { kind: 'model', id })
  return { body: modelBody(id, switches, context.openCatalogue().config) }
}
