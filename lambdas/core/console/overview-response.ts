import * as z from 'zod'
import { breakerFields, channelFigures, figuresFromField } from './channels-response.ts'
import { amountField, budgetResponse, tenantName, timeField } from './response-parts.ts'
import { tenantResponse } from './tenant-response.ts'

const minute = z.strictObject({ at: timeField, requests: z.int(), errors: z.int() })

const traffic = z.strictObject({
  from: timeField.describe(
    'Begin of the minute of these numbers: on AWS the newest that CloudWatch has whole, three to four minutes ago; on a local host the last 60 seconds.',
  ),
  requests_per_minute: z.int().describe('Relayed requests, refused ones too, and created video jobs.'),
  errors_per_minute: z
    .int()
    .describe('Relayed requests that failed by the gateway or an upstream, and video jobs that failed. No 4xx.'),
  first_byte_ms: z
    .strictObject({ p50: z.number(), p95: z.number() })
    .nullable()
    .describe('From a relayed request to the first byte of its response; null without one in the minute.'),
  minutes: z.array(minute).describe('The last half hour, without a gap, oldest first.'),
})

const attention = z.strictObject({
  kind: z.enum(['failing_jobs', 'budget', 'low_balance', 'breaker', 'channel_disabled', 'suspended']),
  level: z.enum(['warning', 'critical']),
  message: z.string(),
  tenant: tenantName.nullable(),
  target: z.string().nullable().describe('The latest failed job, the id of the budget of a key, or a channel.'),
})

/** What is going on, for a tenant or for all. */
export const overviewResponse = z.strictObject({
  object: z.literal('overview'),
  as_of: timeField,
  tenant: tenantName.nullable().describe('Null for all tenants.'),
  spend: z.strictObject({
    today: amountField.nullable().describe('Null where the tenant has too many counters to sum here: see `left_out`.'),
    month: amountField.nullable().describe('Null as `today`.'),
    budget: budgetResponse.nullable(),
    days: z.array(z.strictObject({ day: z.string(), cost: amountField, requests: z.int() })).describe('Oldest first.'),
    left_out: z.string().nullable().describe('What the amounts and days do not hold; null where they are complete.'),
  }),
  balance: tenantResponse.shape.balance.nullable().describe('Null for all tenants.'),
  traffic: traffic.nullable().describe('Of all tenants; null for API keys, and where it cannot be read.'),
  open_jobs: z.int(),
  tenants: z.int().nullable().describe('How many there are; null for API keys and for one tenant.'),
  channels: z.array(
    z.strictObject({
      id: z.string(),
      disabled: z.boolean(),
      ...breakerFields,
      open_jobs: z.int().nullable(),
      figures: channelFigures.nullable(),
    }),
  ),
  figures_from: figuresFromField,
  attention: z.array(attention),
})
