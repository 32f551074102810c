import * as z from 'zod/mini'
import { changeObject, requestObject } from '#core/admin/parse-request.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { ChannelChange, SwitchChange } from '#core/catalogue/switches.ts'
import { CHANNEL_PRIORITY_MAX, CHANNEL_WEIGHT_MAX } from '#core/limits.ts'
import { nearestName } from '#core/nearest-name.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import { changeSwitchesTogether, readSwitches } from '#store/switches.ts'
import { defineOperation, type OperationContext } from './operation.ts'
import { settingsOf, unservedModels } from './switches.ts'

/** A channel or a model, by its id. */
type Target = Pick<SwitchChange, 'kind' | 'id'>

type SwitchContext = OperationContext<'PATCH'>

/** @throws StoreRefusal `not_found`, with the id that was probably meant, for an id that the configuration does not have. */
function requireConfigured(config: GatewayConfig, { kind, id }: Target): void {
  const ids = (kind === 'channel' ? config.channels : config.models).map((each) => each.id)
  if (!ids.includes(id)) {
    const nearest = nearestName(id, ids)
    const advice =
      nearest === undefined ? `\`${kind} list\` shows the ${kind}s that it has` : `did you mean ${nearest}?`
    throw new StoreRefusal('not_found', `the deployed configuration has no ${kind} ${id}; ${advice}`)
  }
}

/** Makes all of these changes of a target or none, and says what is set then. */
async function switchTogether(
  { kind, id }: Target,
  changes: readonly SwitchChange[],
  { table, actor, nowMilliseconds }: SwitchContext,
) {
  const { before, after } = await changeSwitchesTogether(table, changes, { actor, at: nowMilliseconds() })
  return { after, json: { kind, id, changed: after !== before, settings: settingsOf(after, { kind, id }) } }
}

/** A target that left the configuration keeps its switches, so these can be cleared too. */
async function clearSwitches(target: Target, context: SwitchContext) {
  const { switches } = await readSwitches(context.table)
  if (settingsOf(switches, target).length === 0) {
    requireConfigured(await context.config(), target)
  }
  const change: SwitchChange = { ...target, action: 'clear' }
  return (await switchTogether(target, [change], context)).json
}

const WEIGHT_ALLOWED = `use a number above 0, at most ${CHANNEL_WEIGHT_MAX}`
const PRIORITY_ALLOWED = `use a whole number from 0 to ${CHANNEL_PRIORITY_MAX}`

const disabledField = () => z.boolean('use true or false')

/** All of the changes or none; every instance sees them within 15 seconds. */
export const changeChannel = defineOperation({
  name: 'change-channel',
  method: 'PATCH',
  path: '/admin/v1/channels/{channel_id}',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  body: () =>
    changeObject({
      disabled: z
        .optional(disabledField())
        .check(z.describe('A disabled channel gets no new work; its open jobs go on.')),
      weight: z
        .optional(
          z.number(WEIGHT_ALLOWED).check(z.positive(WEIGHT_ALLOWED), z.maximum(CHANNEL_WEIGHT_MAX, WEIGHT_ALLOWED)),
        )
        .check(z.describe('Share among channels of equal priority: above 0, at most 1000.')),
      priority: z
        .optional(
          z
            .int(PRIORITY_ALLOWED)
            .check(z.minimum(0, PRIORITY_ALLOWED), z.maximum(CHANNEL_PRIORITY_MAX, PRIORITY_ALLOWED)),
        )
        .check(z.describe('The lowest number is tried first, from 0 to 1000.')),
    }),
  async run({ channel_id: id, disabled, weight, priority }, context) {
    const target = { kind: 'channel', id } as const
    const config = await context.config()
    requireConfigured(config, target)
    const changes: ChannelChange[] = [
      ...(disabled === undefined ? [] : [{ ...target, action: disabled ? ('disable' as const) : ('enable' as const) }]),
      ...(weight === undefined ? [] : [{ ...target, action: 'weight' as const, value: weight }]),
      ...(priority === undefined ? [] : [{ ...target, action: 'priority' as const, value: priority }]),
    ]
    const { after, json } = await switchTogether(target, changes, context)
    const warning = unservedModels(config, after)
    if (warning !== undefined) {
      context.warn(warning)
    }
    return json
  },
})

/** The configuration decides again. */
export const clearChannel = defineOperation({
  name: 'clear-channel',
  method: 'DELETE',
  path: '/admin/v1/channels/{channel_id}/switches',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  audit: 'channel clear',
  run: ({ channel_id: id }, context) => clearSwitches({ kind: 'channel', id }, context),
})

/** Every instance sees it within 15 seconds. */
export const changeModel = defineOperation({
  name: 'change-model',
  method: 'PATCH',
  path: '/admin/v1/models/{model}',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  body: () => requestObject({ disabled: disabledField().check(z.describe('A disabled model is unknown to clients.')) }),
  async run({ model: id, disabled }, context) {
    const target = { kind: 'model', id } as const
    const config = await context.config()
    requireConfigured(config, target)
    const isEnabledByConfiguration = config.models.some((model) => model.id === id && model.enabled)
    const change: SwitchChange = disabled
      ? { ...target, action: 'disable' }
      : { ...target, action: 'enable', isEnabledByConfiguration }
    return (await switchTogether(target, [change], context)).json
  },
})

/** The configuration decides again. */
export const clearModel = defineOperation({
  name: 'clear-model',
  method: 'DELETE',
  path: '/admin/v1/models/{model}/switches',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  audit: 'model clear',
  run: ({ model: id }, context) => clearSwitches({ kind: 'model', id }, context),
})

/** The operations of switches, which all write. */
export const CHANNEL_WRITES = [changeChannel, clearChannel, changeModel, clearModel] as const
