import * as z from 'zod'
import { breakerFields, isoTimeField } from '#core/admin/read-responses.ts'
import { modelPriceResponse } from '#core/api/responses.ts'
import { CREDENTIAL_KINDS } from '#core/catalogue/upstream-auth.ts'
import { listChannels, listModels } from './channels.ts'
import { changeChannel, changeModel, clearChannel, clearModel } from './channels.writes.ts'
import { documentOperation } from './document.ts'

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
const SEEN = 'Every instance sees it within 15 seconds. Switches are kept over deployments until they are cleared.'

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
    description: `All of the changes or none. ${SEEN} In the audit log: \`channel disable\`, \`enable\`, \`weight\` or \`priority\`.`,
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
    description: `${SEEN} In the audit log: \`model disable\` or \`enable\`.`,
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
