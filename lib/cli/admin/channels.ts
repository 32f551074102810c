import * as z from 'zod'
import { breakerFields, isoTimeField } from '#core/admin/read-responses.ts'
import { modelPriceResponse } from '#core/api/responses.ts'
import { channelPriority, channelWeight } from '#core/catalogue/channel.ts'
import { CREDENTIAL_KINDS } from '#core/catalogue/upstream-auth.ts'
import type { ChannelFigures } from '#core/measures.ts'
import { listChannels, listModels } from '#lambdas/admin/channels.ts'
import { changeChannel, changeModel, clearChannel, clearModel } from '#lambdas/admin/channels.writes.ts'
import { formatTable } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { Command } from './command.ts'
import { documentOperation } from './document.ts'
import { commandOf } from './operation-command.ts'

const setting = z.strictObject({
  setting: z.enum(['state', 'weight', 'priority']),
  value: z.union([z.string(), z.number()]),
  by: z.string().describe('As the audit log names the user.'),
  since: isoTimeField,
})

const settings = z.array(setting).describe('What operators have set; empty where the configuration decides.')

const state = z.enum(['enabled', 'disabled', 'not configured']).describe('`not configured`: left over with switches.')

const channel = z.strictObject({
  id: z.string(),
  provider: z.string().nullable().describe('Null for a channel that has left the configuration.'),
  base_url_host: z.string().nullable(),
  state,
  priority: z.number().nullable().describe('In force.'),
  configured_priority: z.number().nullable(),
  weight: z.number().nullable().describe('In force.'),
  configured_weight: z.number().nullable(),
  open_jobs: z.int().nullable().describe('Null for a channel that relays.'),
  open_jobs_max: z.int().nullable(),
  calls: z
    .int()
    .nullable()
    .describe(
      'Calls of the upstream in the minute: relayed requests, submits, polls and cancels. Null without figures.',
    ),
  errors: z.record(z.string(), z.int()).nullable().describe('Of these calls, by class.'),
  p50_milliseconds: z.number().nullable().describe('Until the head of the reply; null without a call.'),
  p95_milliseconds: z.number().nullable(),
  ...breakerFields,
  credential: z
    .strictObject({
      kind: z.enum(CREDENTIAL_KINDS),
      expires_at: isoTimeField
        .nullable()
        .describe('Null for a key, and on AWS, where every instance has credentials of its own.'),
    })
    .nullable()
    .describe('What the upstream is called with. Null for a channel that has left the configuration.'),
  settings,
})

const model = z.strictObject({
  id: z.string(),
  kind: z.enum(['chat', 'embedding', 'image', 'video']).nullable(),
  state,
  configured: z.enum(['enabled', 'disabled']).nullable().describe('Null for tenants.'),
  channels: z.array(z.string()).describe('Empty for tenants.'),
  pricing: z
    .strictObject({
      unit: z.literal('credit'),
      billing: z.enum(['token', 'per_second', 'per_image', 'per_request']),
      prices: z.array(modelPriceResponse),
    })
    .nullable(),
  limits: z
    .record(z.string(), z.unknown())
    .nullable()
    .describe('What the model takes, as `GET /v1/models` describes it.'),
  settings,
})

const switched = z.strictObject({
  kind: z.enum(['channel', 'model']),
  id: z.string(),
  changed: z.boolean().describe('False if nothing had to change.'),
  settings,
})

const returns = 'What is set now.'
const SWITCH_KEPT =
  'Every instance sees it within 15 seconds. Switches are kept over deployments until they are cleared.'

/** The operations of channels, models and their switches, as people read about them. */
export const CHANNEL_DOCUMENTS = {
  listChannels: documentOperation(listChannels, {
    summary: 'list the channels: last minute, open jobs, breaker, and who switched what',
    returns: 'Channels as they are in force.',
    output: z.strictObject({
      minute_from: isoTimeField
        .nullable()
        .describe(
          'Begin of the minute of all figures: on AWS the newest that CloudWatch has whole and in which a channel was called, three to ten minutes ago; on a local host the last 60 seconds. Null without one.',
        ),
      channels: z.array(channel),
      as_of: isoTimeField,
    }),
  }),
  listModels: documentOperation(listModels, {
    summary: 'list the models with their states, channels and switches',
    description: 'An API key sees the models that it may use.',
    returns: 'Models as they are in force.',
    output: z.strictObject({ models: z.array(model), as_of: isoTimeField }),
  }),
  changeChannel: documentOperation(changeChannel, {
    summary: 'switch a channel',
    description: `All of the changes or none. ${SWITCH_KEPT} In the audit log: \`channel disable\`, \`enable\`, \`weight\` or \`priority\`.`,
    returns,
    output: switched,
  }),
  clearChannel: documentOperation(clearChannel, {
    summary: 'end every switch of a channel: the configuration decides again',
    returns,
    output: switched,
  }),
  changeModel: documentOperation(changeModel, {
    summary: 'switch a model',
    description: `${SWITCH_KEPT} In the audit log: \`model disable\` or \`enable\`.`,
    returns,
    output: switched,
  }),
  clearModel: documentOperation(clearModel, {
    summary: 'end every switch of a model: the configuration decides again',
    returns,
    output: switched,
  }),
}

/** Parts of the responses that have names of their own in `admin-openapi.json`. */
export const CHANNEL_SCHEMAS = { Channel: channel, Model: model, Switches: switched, Setting: setting }

type Switched = Awaited<ReturnType<typeof CHANNEL_DOCUMENTS.changeChannel.operation.run>>

/** The settings in one cell, such as `disabled by alice since 2026-11-22T10:00:00.000Z`; null without settings. */
export function settingsText(settings: Switched['settings']): string | null {
  const texts = settings.map(({ setting, value, by, since }) => {
    const what = setting === 'state' ? value : `${setting} ${value}`
    return `${what} by ${by} since ${since}`
  })
  return texts.length === 0 ? null : texts.join(', ')
}

/** The age at which an instance reads the switches again. */
const SEEN = 'every instance sees it within 15 seconds'

function switchedText({ kind, id, changed, settings }: Switched): string {
  return `${kind} ${id}: ${settingsText(settings) ?? 'as configured'}; ${changed ? SEEN : 'nothing had to change'}`
}

const CHANNEL = {
  ID: { value: 'ID', summary: 'the channel, as the configuration names it', required: true, field: 'channel_id' },
} as const

const KEPT = 'A switch is kept over deployments until `channel clear`.'

export const channelDisable: Command = commandOf(CHANNEL_DOCUMENTS.changeChannel, {
  name: 'channel disable',
  summary: 'give a channel no new work; its open jobs go on',
  details: `Requests go to the other channels of their models. Without another channel, a relayed request is a 503 and nothing is reserved; a
video job waits, up to \`queue_minutes\`. Open jobs of the channel are still polled, stored and settled: the channel is drained when
\`channel list\` shows 0 of them. ${KEPT}`,
  options: CHANNEL,
  fixed: { disabled: true },
  without: ['weight', 'priority'],
  examples: ['channel disable p1-main --stage prod', 'channel disable chat-second --local --json'],
  format: switchedText,
})

export const channelEnable: Command = commandOf(CHANNEL_DOCUMENTS.changeChannel, {
  name: 'channel enable',
  summary: 'end `channel disable`; weight and priority stay as they were set',
  options: CHANNEL,
  fixed: { disabled: false },
  without: ['weight', 'priority'],
  examples: ['channel enable p1-main --stage prod'],
  format: switchedText,
})

export const channelWeightSet: Command = commandOf(CHANNEL_DOCUMENTS.changeChannel, {
  name: 'channel weight',
  summary: 'set the share of a channel among channels of equal priority',
  details: `Replaces \`weight\` of the configuration. A session moves only if its channel loses share. ${KEPT}`,
  options: {
    ...CHANNEL,
    WEIGHT: {
      value: 'N',
      summary: 'above 0, at most 1000, such as 0.5',
      required: true,
      field: 'weight',
      read: (text) =>
        readNumber(text, channelWeight, 'use a number above 0, at most 1000; `channel disable` ends all new work'),
    },
  },
  without: ['disabled', 'priority'],
  examples: ['channel weight chat-second 0.2 --stage prod'],
  format: switchedText,
})

export const channelPrioritySet: Command = commandOf(CHANNEL_DOCUMENTS.changeChannel, {
  name: 'channel priority',
  summary: 'set when a channel is tried: the lowest number first',
  details: `Replaces \`priority\` of the configuration. ${KEPT}`,
  options: {
    ...CHANNEL,
    PRIORITY: {
      value: 'N',
      summary: 'from 0 to 1000',
      required: true,
      field: 'priority',
      read: (text) => readNumber(text, channelPriority, 'use a whole number from 0 to 1000'),
    },
  },
  without: ['disabled', 'weight'],
  examples: ['channel priority chat-second 0 --stage prod'],
  format: switchedText,
})

export const channelClear: Command = commandOf(CHANNEL_DOCUMENTS.clearChannel, {
  name: 'channel clear',
  options: { ID: { ...CHANNEL.ID, summary: 'the channel; one that left the configuration can be cleared too' } },
  examples: ['channel clear p1-main --stage prod'],
  format: switchedText,
})

function readNumber(text: string, schema: typeof channelWeight, advice: string): number {
  const { data } = schema.safeParse(/^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined)
  if (data === undefined) {
    throw new UsageError(`${text}: ${advice}`)
  }
  return data
}

/** The errors in one cell, the most frequent class first, such as `3 (2 timeout, 1 http_5xx)`. */
export function errorsText(errors: ChannelFigures['errors']): string {
  const counted = Object.entries(errors).filter(([, count]) => count > 0)
  const all = counted.reduce((sum, [, count]) => sum + count, 0)
  const classes = counted.toSorted(([, left], [, right]) => right - left).map(([name, count]) => `${count} ${name}`)
  return all === 0 ? '0' : `${all} (${classes.join(', ')})`
}

type ChannelRow = Awaited<ReturnType<typeof CHANNEL_DOCUMENTS.listChannels.operation.run>>['channels'][number]

/** The median and the 95th percentile in one cell, such as `120 / 340 ms`; null without calls. */
function latencyText({ p50_milliseconds: p50, p95_milliseconds: p95 }: ChannelRow): string | null {
  return p50 === null || p95 === null ? null : `${Math.round(p50)} / ${Math.round(p95)} ms`
}

/** The kind in words, and when it ends, such as `aws until 2026-11-22T10:00:00.000Z`. */
function credentialText(credential: ChannelRow['credential']): string | null {
  if (credential === null) {
    return null
  }
  const { kind, expires_at: end } = credential
  return `${kind.replaceAll('_', ' ')}${end === null ? '' : ` until ${end}`}`
}

const CHANNEL_COLUMNS = [
  ...['CHANNEL', 'PROVIDER', 'STATE', 'PRIORITY', 'WEIGHT', 'OPEN JOBS'],
  ...['CALLS', 'ERRORS', 'MS', 'BREAKER', 'CREDENTIAL', 'SWITCHED'],
]

export const channelList: Command = commandOf(CHANNEL_DOCUMENTS.listChannels, {
  name: 'channel list',
  details: `CALLS, ERRORS and MS (median / 95th percentile until the head of the reply) are those of the last minute. On AWS they come from
CloudWatch, are minutes late, and need the permission cloudwatch:GetMetricData. Each AWS instance has breakers of its own, which are not
shown. \`open\` is for all tenants, or for one. A simulated channel shows the credential that its upstream would want. A disabled channel is drained when it has 0 open jobs.`,
  examples: ['channel list --local', 'channel list --stage prod --json'],
  format({ channels, minute_from: from }) {
    const rows = channels.map((row) => [
      ...[row.id, row.provider, row.state],
      effectiveText(row.priority, row.configured_priority),
      effectiveText(row.weight, row.configured_weight),
      row.open_jobs === null ? null : `${row.open_jobs} of ${row.open_jobs_max}`,
      row.calls === null ? null : String(row.calls),
      row.errors === null ? null : errorsText(row.errors),
      latencyText(row),
      row.breaker,
      credentialText(row.credential),
      settingsText(row.settings),
    ])
    const minute = from === null ? 'no figures of the last minutes' : `figures of the minute from ${from}`
    return `${formatTable(CHANNEL_COLUMNS, rows)}\n\n${minute}`
  },
})

/** The value in force, and the configured one where they differ. */
function effectiveText(value: number | null, configured: number | null): string | null {
  if (value === null) {
    return null
  }
  return value === configured ? String(value) : `${value} (configured ${configured})`
}

const MODEL = {
  ID: { value: 'ID', summary: 'the model, by its public id', required: true, field: 'model' },
} as const

export const modelDisable: Command = commandOf(CHANNEL_DOCUMENTS.changeModel, {
  name: 'model disable',
  summary: 'make a model unknown to clients; its jobs go on',
  details: `GET /v1/models leaves the model out, and requests for it are refused like those for an unknown model. A repeated create under an
idempotency key still finds its job. The switch is kept over deployments until \`model clear\`.`,
  options: MODEL,
  fixed: { disabled: true },
  examples: ['model disable famB-1.1-t2v --stage prod', 'model disable chat-default --local --json'],
  format: switchedText,
})

export const modelEnable: Command = commandOf(CHANNEL_DOCUMENTS.changeModel, {
  name: 'model enable',
  summary: 'end `model disable`, or enable a model that the configuration disables',
  details: `If the configuration enables the model, no switch is left. If the configuration has \`enabled: false\`, the switch overrides that
until \`model clear\`.`,
  options: MODEL,
  fixed: { disabled: false },
  examples: ['model enable famB-1.1-t2v --stage prod'],
  format: switchedText,
})

export const modelClear: Command = commandOf(CHANNEL_DOCUMENTS.clearModel, {
  name: 'model clear',
  options: { ID: { ...MODEL.ID, summary: 'the model; one that left the configuration can be cleared too' } },
  examples: ['model clear famB-1.1-t2v --stage prod'],
  format: switchedText,
})

export const modelList: Command = commandOf(CHANNEL_DOCUMENTS.listModels, {
  name: 'model list',
  details: '`catalogue check` shows their prices.',
  examples: ['model list --local', 'model list --stage prod --json'],
  format({ models }) {
    const rows = models.map(({ id, kind, state, channels, settings }) => [
      ...[id, kind, state, channels.join(',') || null, settingsText(settings)],
    ])
    return formatTable(['MODEL', 'KIND', 'STATE', 'CHANNELS', 'SWITCHED'], rows)
  },
})

/** The commands about channels and models, in the order of the help. */
export const CHANNEL_COMMANDS: readonly Command[] = [
  ...[channelList, channelDisable, channelEnable, channelWeightSet, channelPrioritySet, channelClear],
  ...[modelList, modelDisable, modelEnable, modelClear],
]
