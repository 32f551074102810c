import * as z from 'zod'
import { modelPriceResponse } from '../contract/model-response.ts'
import { timeField } from './response-parts.ts'

const switched = {
  switched_by: z.string().nullable().describe('Who set the latest switch; null without one.'),
  switched_at: timeField.nullable(),
}

/** Which minute the figures of channels describe. */
export const figuresFromField = timeField
  .nullable()
  .describe(
    'Begin of the minute of all figures: on AWS the newest that CloudWatch has whole and in which a channel was called, three to ten minutes ago; on a local host the last 60 seconds. Null without one.',
  )

/** How a channel does. */
export const channelFigures = z.strictObject({
  requests: z.int().describe('Calls of the upstream in the minute: relayed requests, submits, polls and cancels.'),
  errors: z.int().describe('Of these calls.'),
  p50_ms: z.number().nullable().describe('Until the head of the reply; null without a call.'),
  p95_ms: z.number().nullable(),
})

/** What is known of the breakers of a channel: a local host has one, and on AWS every instance has its own. */
export const breakerFields = {
  breaker: z
    .enum(['closed', 'open', 'half_open'])
    .nullable()
    .describe(
      'Of a local host. Null on AWS, where every instance has its own, and for video channels, which have none.',
    ),
  breaker_openings: z
    .int()
    .nullable()
    .describe(
      'On AWS: how often breakers of all instances opened in the last ten minutes, minutes late. Null on a local host, for video channels, and if the metric `breaker_opened` cannot be read.',
    ),
}

const channelRow = z.strictObject({
  id: z.string(),
  provider: z.string().nullable().describe('Null for a channel that has left the configuration.'),
  base_url_host: z.string().nullable(),
  weight: z.number().nullable(),
  priority: z.number().nullable(),
  disabled: z.boolean(),
  configured: z
    .strictObject({ weight: z.number(), priority: z.number() })
    .nullable()
    .describe('Null for a channel that has left the configuration.'),
  ...switched,
  open_jobs: z.int().nullable().describe('Null for a channel that relays.'),
  open_jobs_max: z.int().nullable(),
  ...breakerFields,
  figures: channelFigures.nullable().describe('Of the minute `figures_from`; null if there are none.'),
})

const modelRow = z.strictObject({
  id: z.string(),
  kind: z.enum(['chat', 'embedding', 'image', 'video']),
  channels: z.array(z.string()),
  pricing: z.strictObject({
    unit: z.literal('credit'),
    billing: z.enum(['token', 'per_second', 'per_image', 'per_request']),
    prices: z.array(modelPriceResponse),
  }),
  limits: z.record(z.string(), z.unknown()).describe('What the model takes, as `GET /v1/models` describes it.'),
  disabled: z.boolean(),
  ...switched,
})

/** Channels and models as they are in force. API keys see models alone. */
export const channelsResponse = z.strictObject({
  object: z.literal('channels'),
  as_of: timeField,
  figures_from: figuresFromField,
  channels: z.array(channelRow),
  models: z.array(modelRow),
  left_over_models: z
    .array(z.strictObject({ id: z.string(), disabled: z.boolean(), ...switched }))
    .describe('Models that left the configuration and whose switches wait to be cleared. Empty for tenants.'),
})
