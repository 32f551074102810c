import { changeSwitchesTogether } from '#adapters/store/switches/change-switch.ts'
import { readSwitches } from '#adapters/store/switches/read-switches.ts'
import type { ChannelChange, SwitchChange } from '#core/catalogue/change-switches.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Setting, type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { AdminNotFoundError } from '#core/console/admin-errors.ts'
import { parseRequest } from '#core/console/parse-request.ts'
import { changeChannelRequest, changeModelRequest, emptyRequest } from '#core/console/switch-request.ts'
import { unservedModels } from '#lambdas/admin/switches/unserved-models.ts'
import { actorOf } from '#middleware/admin-event.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { pathId } from './named-target.ts'
import type { WriteContext, WriteOperation } from './write-context.ts'

/** `PATCH /admin/v1/channels/{channel_id}`: all of the changes or none; every instance sees them within 15 seconds. */
export const changeChannel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'channel_id', 'channel')
  const { disabled, weight, priority } = parseRequest(changeChannelRequest, event.json)
  const config = requireConfigured(context, 'channel', id)
  const target = { kind: 'channel', id } as const
  const changes: ChannelChange[] = [
    ...(disabled === undefined ? [] : [{ ...target, action: disabled ? ('disable' as const) : ('enable' as const) }]),
    ...(weight === undefined ? [] : [{ ...target, action: 'weight' as const, value: weight }]),
    ...(priority === undefined ? [] : [{ ...target, action: 'priority' as const, value: priority }]),
  ]
  return { body: channelBody(id, await apply(event, context, changes), config) }
}

/** `DELETE .../switches` of a channel: the configuration decides again. One that left the configuration can be cleared too. */
export const clearChannel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'channel_id', 'channel')
  return { body: channelBody(id, await clear(event, context, { kind: 'channel', id }), context.openCatalogue().config) }
}

/** `PATCH /admin/v1/models/{model}`. */
export const changeModel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'model', 'model')
  const { disabled } = parseRequest(changeModelRequest, event.json)
  const config = requireConfigured(context, 'model', id)
  const isEnabledByConfiguration = config.models.some((model) => model.id === id && model.enabled)
  const target = { kind: 'model', id } as const
  const change: SwitchChange = disabled
    ? { ...target, action: 'disable' }
    : { ...target, action: 'enable', isEnabledByConfiguration }
  return { body: modelBody(id, await apply(event, context, [change]), config) }
}

/** `DELETE .../switches` of a model. */
export const clearModel: WriteOperation = async (event, context) => {
  const id = pathId(event, 'model', 'model')
  return { body: modelBody(id, await clear(event, context, { kind: 'model', id }), context.openCatalogue().config) }
}

type Target = Pick<SwitchChange, 'kind' | 'id'>

/** @throws AdminNotFoundError for an id that the configuration does not have. */
function requireConfigured({ openCatalogue }: WriteContext, kind: Target['kind'], id: string): GatewayConfig {
  const { config } = openCatalogue()
  if (!(kind === 'channel' ? config.channels : config.models).some((each) => each.id === id)) {
    throw new AdminNotFoundError(`the configuration has no such ${kind}: \`GET /admin/v1/channels\` lists them`)
  }
  return config
}

async function clear(event: ApiEvent, context: WriteContext, target: Target): Promise<Switches> {
  parseRequest(emptyRequest, event.json)
  const { switches } = await readSwitches(context.table)
  const { kind, id } = target
  if (switchesOf<object>(kind === 'channel' ? switches.channels : switches.models, id) === undefined) {
    requireConfigured(context, kind, id)
  }
  return await apply(event, context, [{ ...target, action: 'clear' }])
}

async function apply(
  event: ApiEvent,
  { table, nowMilliseconds }: WriteContext,
  changes: readonly SwitchChange[],
): Promise<Switches> {
  const changer = { actor: actorOf(event), at: nowMilliseconds() }
  return (await changeSwitchesTogether(table, changes, changer)).after
}

function channelBody(id: string, switches: Switches, config: GatewayConfig) {
  const { enabled, weight, priority } = switchesOf(switches.channels, id) ?? {}
  const configured = config.channels.find((channel) => channel.id === id)
  return {
    object: 'channel.switches',
    id,
    disabled: enabled !== undefined,
    weight: weight?.value ?? configured?.weight ?? null,
    priority: priority?.value ?? configured?.priority ?? null,
    ...latest([enabled, weight, priority]),
    warnings: warnings(config, switches),
  }
}

function modelBody(id: string, switches: Switches, config: GatewayConfig) {
  const { enabled } = switchesOf(switches.models, id) ?? {}
  const isEnabled = enabled?.value ?? config.models.find((model) => model.id === id)?.enabled ?? false
  return {
    object: 'model.switches',
    id,
    disabled: !isEnabled,
    ...latest([enabled]),
    warnings: warnings(config, switches),
  }
}

/** Who changed the target last, and when. */
function latest(settings: readonly (Setting<unknown> | undefined)[]) {
  const [last] = settings.flatMap((setting) => setting ?? []).toSorted((left, right) => right.at - left.at)
  return { switched_by: last?.by ?? null, switched_at: last?.at ?? null }
}

function warnings(config: GatewayConfig, switches: Switches): readonly string[] {
  return [unservedModels(config, switches)].flatMap((warning) => warning ?? [])
}
