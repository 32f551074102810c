import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import { type Switches, switchesOf } from '#core/catalogue/switches.ts'
import { readSwitches } from '#store/switches.ts'
import { formatTable, type Output } from '../output.ts'
import { readDeployedConfig } from './catalogue.ts'
import type { Command } from './command.ts'
import { applyChange, clearSwitches, requireConfigured, settingsOf, settingsText } from './switches.ts'

const ID = { name: 'ID', summary: 'the model, by its public id', required: true } as const

/** Hides a model from clients. @throws CommandFailedError for an unknown model. */
export const modelDisable: Command = {
  name: 'model disable',
  summary: 'make a model unknown to clients; its jobs go on',
  details: `GET /v1/models leaves the model out, and requests for it are refused like those for an unknown model. A repeated create under an
idempotency key still finds its job. The switch is kept over deployments until \`model clear\`.`,
  parameters: [ID],
  examples: ['model disable famB-1.1-t2v --stage prod', 'model disable chat-default --local --json'],
  async run(context, values) {
    const target = { kind: 'model', id: values.required('ID') } as const
    requireConfigured(await readDeployedConfig(context), target)
    return (await applyChange(context, { ...target, action: 'disable' })).output
  },
}

/** Ends a disablement, or shows a model that the configuration disables. @throws CommandFailedError for an unknown model. */
export const modelEnable: Command = {
  name: 'model enable',
  summary: 'end `model disable`, or enable a model that the configuration disables',
  details: `If the configuration enables the model, no switch is left. If the configuration has \`enabled: false\`, the switch overrides that
until \`model clear\`.`,
  parameters: [ID],
  examples: ['model enable famB-1.1-t2v --stage prod'],
  async run(context, values) {
    const target = { kind: 'model', id: values.required('ID') } as const
    const config = await readDeployedConfig(context)
    requireConfigured(config, target)
    const isEnabledByConfiguration = config.models.some(({ id, enabled }) => id === target.id && enabled)
    return (await applyChange(context, { ...target, action: 'enable', isEnabledByConfiguration })).output
  },
}

/** Ends every switch of a model. @throws CommandFailedError for an id without switches that no model has. */
export const modelClear: Command = {
  name: 'model clear',
  summary: 'end every switch of a model: the configuration decides again',
  parameters: [{ ...ID, summary: 'the model; one that left the configuration can be cleared too' }],
  examples: ['model clear famB-1.1-t2v --stage prod'],
  run: (context, values) => clearSwitches(context, { kind: 'model', id: values.required('ID') }),
}

/** Every model with its state, and who switched it. */
export const modelList: Command = {
  name: 'model list',
  summary: 'list the models with their states, channels and switches',
  details: '`catalogue check` shows their prices.',
  examples: ['model list --local', 'model list --stage prod --json'],
  async run(context) {
    const [config, { switches }] = [await readDeployedConfig(context), await readSwitches(await context.table())]
    return describeModels(config, switches)
  },
}

function describeModels(config: GatewayConfig, switches: Switches): Output {
  const known = new Set(config.models.map(({ id }) => id))
  const left = Object.keys(switches.models).filter((id) => !known.has(id))
  const models = [
    ...config.models.map(({ id, kind, enabled }) => ({
      id,
      kind,
      state: stateOf(switchesOf(switches.models, id)?.enabled?.value ?? enabled),
      configured: stateOf(enabled),
      channels: config.channels.filter((channel) => Object.hasOwn(channel.models, id)).map((channel) => channel.id),
      settings: settingsOf(switches, { kind: 'model', id }),
    })),
    ...left.map((id) => ({
      ...{ id, kind: null, state: 'not configured', configured: null, channels: [] },
      settings: settingsOf(switches, { kind: 'model', id }),
    })),
  ]
  const rows = models.map(({ id, kind, state, channels, settings }) => [
    id,
    kind,
    state,
    channels.join(',') || null,
    settingsText(settings),
  ])
  return { json: { models }, text: formatTable(['MODEL', 'KIND', 'STATE', 'CHANNELS', 'SWITCHED'], rows) }
}

function stateOf(enabled: boolean): 'enabled' | 'disabled' {
  return enabled ? 'enabled' : 'disabled'
}
