import * as z from 'zod'
import { amountField, breakerFields, isoTimeField, tenantName } from '#core/admin/read-responses.ts'
import { getOverview } from '#lambdas/admin/overview.ts'
import { documentOperation } from './document.ts'
import { budget } from './keys.ts'

/** Which minute the figures of channels describe. */
const figuresFrom = isoTimeField
  .nullable()
  .describe(
    'Begin of the minute of all figures: on AWS the newest that CloudWatch has whole and in which a channel was called, three to ten minutes ago; on a local host the last 60 seconds. Null without one.',
  )

/** How a channel does. */
const channelFigures = z.strictObject({
  requests: z.int().describe('Calls of the upstream in the minute: relayed requests, submits, polls and cancels.'),
  errors: z.int().describe('Of these calls.'),
  p50_ms: z.number().nullable().describe('Until the head of the reply; null without a call.'),
  p95_ms: z.number().nullable(),
})

const minute = z.strictObject({ at: isoTimeField, requests: z.int(), errors: z.int() })

const traffic = z.strictObject({
  from: isoTimeField.describe(
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
  kind: z.enum([
    'failing_jobs',
    'failing_requests',
    'budget',
    'low_balance',
    'breaker',
    'channel_disabled',
    'suspended',
  ]),
  level: z.enum(['warning', 'critical']),
  message: z.string(),
  tenant: tenantName.nullable(),
  target: z.string().nullable().describe('The latest failed job, the id of the budget of a key, or a channel.'),
})

/** What is going on, for a tenant or for all. */
const overview = z.strictObject({
  as_of: isoTimeField,
  tenant: tenantName.nullable().describe('Null for all tenants.'),
  spend: z.strictObject({
    today: amountField.nullable().describe('Null where the tenant has too many counters to sum here: see `left_out`.'),
    month: amountField.nullable().describe('Null as `today`.'),
    budget: budget.nullable(),
    days: z.array(z.strictObject({ day: z.string(), cost: amountField, requests: z.int() })).describe('Oldest first.'),
    left_out: z.string().nullable().describe('What the amounts and days do not hold; null where they are complete.'),
  }),
  balance: z
    .strictObject({
      available: amountField.describe('What new requests may reserve. Negative after an overdraft.'),
      held: amountField.describe('Reserved by open requests and jobs.'),
      spent: amountField.describe('Settled since the tenant was created.'),
      granted: amountField.describe('available + held + spent.'),
    })
    .nullable()
    .describe('Null for all tenants.'),
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
  figures_from: figuresFrom,
  attention: z.array(attention),
})

/** The operation, as people read about it. */
export const getOverviewDocument = documentOperation(getOverview, {
  summary: 'what is going on',
  description: 'For all tenants, or with `tenant` for one. An API key sees its own tenant.',
  returns: 'The overview.',
  output: overview,
})
