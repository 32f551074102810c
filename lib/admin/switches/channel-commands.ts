import { channelPriority, channelWeight } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { ChannelChange, Switches } from '#core/catalogue/switches.ts'
import { unservedModels } from '#lambdas/admin/switches/unserved-models.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { readDeployedConfig } from '../catalogue/deployed-config.ts'
import type { Answer } from '../command-line/answer.ts'
import type { AdminContext, Command } from '../command-line/command.ts'
import type { CommandValues } from '../command-line/command-values.ts'
import { applyChange } from './apply-change.ts'
import { clearSwitches } from './clear-switches.ts'
import { requireConfigured } from './configured-target.ts'

const ID = { name: 'ID', summary: 'the channel, as the configuration names it', required: true } as const

const KEPT = 'A switch is kept over deployments until `channel clear`.'

/** Gives a channel no new work. @throws CommandFailedError for an unknown channel. */
export const channelDisable: Command = {
  name: 'channel disable',
  summary: 'give a channel no new work; its open jobs go on',
  details: `Requests go to the other channels of their models. Without another channel, a relayed request is a 503 and nothing is reserved; a
video job waits, up to \`queue_minutes\`. Open jobs of the channel are still polled, stored and settled: the channel is drained when
\`channel list\` shows 0 of them. ${KEPT}`,
  parameters: [ID],
  examples: ['channel disable p1-main --stage prod', 'channel disable chat-second --local --json'],
  run: (context, values) => change(context, { kind: 'channel', id: values.required('ID'), action: 'disable' }),
}

/** Ends a disablement. @throws CommandFailedError for an unknown channel. */
export const channelEnable: Command = {
  name: 'channel enable',
  summary: 'end `channel disable`; weight and priority stay as they were set',
  parameters: [ID],
  examples: ['channel enable p1-main --stage prod'],
  run: (context, values) => change(context, { kind: 'channel', id: values.required('ID'), action: 'enable' }),
}

/** @throws UsageError for a weight that no configuration could have; CommandFailedError for an unknown channel. */
export const channelWeightSet: Command = {
  name: 'channel weight',
  summary: 'set the share of a channel among channels of equal priority',
  details: `Replaces \`weight\` of the configuration. A session moves only if its channel loses share. ${KEPT}`,
  parameters: [ID, { name: 'N', summary: 'above 0, at most 1000, such as 0.5', required: true }],
  examples: ['channel weight chat-second 0.2 --stage prod'],
  async run(context, values) {
    const value = readNumber(
      values,
      channelWeight,
      'use a number above 0, at most 1000; `channel disable` ends all new work',
    )
    return await change(context, { kind: 'channel', id: values.required('ID'), action: 'weight', value })
  },
}

/** @throws UsageError for a priority that no configuration could have; CommandFailedError for an unknown channel. */
export const channelPrioritySet: Command = {
  name: 'channel priority',
  summary: 'set when a channel is tried: the lowest number first',
  details: `Replaces \`priority\` of the configuration. ${KEPT}`,
  parameters: [ID, { name: 'N', summary: 'from 0 to 1000', required: true }],
  examples: ['channel priority chat-second 0 --stage prod'],
  async run(context, values) {
    const value = readNumber(values, channelPriority, 'use a whole number from 0 to 1000')
    return await change(context, { kind: 'channel', id: values.required('ID'), action: 'priority', value })
  },
}

/** Ends every switch of a channel. @throws CommandFailedError for an id without switches that no channel has. */
export const channelClear: Command = {
  name: 'channel clear',
  summary: 'end every switch of a channel: the configuration decides again',
  parameters: [{ ...ID, summary: 'the channel; one that left the configuration can be cleared too' }],
  examples: ['channel clear p1-main --stage prod'],
  run: (context, values) => clearSwitches(context, { kind: 'channel', id: values.required('ID') }),
}

function readNumber(values: CommandValues, schema: typeof channelWeight, advice: string): number {
  const text = values.required('N')
  const { data } = schema.safeParse(/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined)
  if (data === undefined) {
    throw new UsageError(`N ${text}: ${advice}`)
  }
  return data
}

async function change(context: AdminContext, asked: ChannelChange): Promise<Answer> {
  const config = await readDeployedConfig(context)
  requireConfigured(config, asked)
  const { answer, after } = await applyChange(context, asked)
  warnOfUnservedModels(context, config, after)
  return answer
}

/** Warns if every channel of an enabled model is disabled. */
export function warnOfUnservedModels(
  context: Pick<AdminContext, 'warn'>,
  config: GatewayConfig,
  switches: Switches,
): void {
  const warning = unservedModels(config, switches)
  if (warning !== undefined) {
    context.warn(warning)
  }
}
