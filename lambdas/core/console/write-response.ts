import * as z from 'zod'
import { keyResponse } from './key-response.ts'
import { amountField, timeField } from './response-parts.ts'
import { tenantResponse } from './tenant-response.ts'

/** A tenant after a change. */
export const changedTenantResponse = z.strictObject({ object: z.literal('tenant'), ...tenantResponse.shape })

const repeated = z.boolean().describe('True for an id that was used before for the same amount: nothing was moved.')

/** A grant. */
export const grantResponse = z.strictObject({
  object: z.literal('grant'),
  id: z.string(),
  credits: amountField,
  repeated,
  tenant: changedTenantResponse,
})

/** A correction of what was granted. */
export const adjustmentResponse = z.strictObject({
  object: z.literal('adjustment'),
  id: z.string(),
  amount: amountField.describe('With its sign.'),
  repeated,
  tenant: changedTenantResponse,
})

/** The secrets that sign the callbacks of a tenant. */
export const callbackSecretResponse = z.strictObject({
  object: z.literal('callback_secret'),
  tenant: z.string().describe('Id of the tenant.'),
  secret: z.string(),
  previous_secret: z.string().nullable().describe('Signs too, until `previous_until`.'),
  previous_until: timeField.nullable(),
})

/** A key after a change. */
export const changedKeyResponse = z.strictObject({ object: z.literal('key'), ...keyResponse.shape })

const key = z.string().describe('The key itself. It is not shown again.')

/** A new key. */
export const newKeyResponse = z.strictObject({ ...changedKeyResponse.shape, key })

/** The successor of a key. */
export const rotatedKeyResponse = z.strictObject({
  ...newKeyResponse.shape,
  replaces: z.string().describe('Public id of the old key.'),
  old_expires_at: timeField.describe('When the old key ends, Unix seconds.'),
})

/** A key for the playground. */
export const playgroundKeyResponse = z.strictObject({
  object: z.literal('playground.key'),
  key,
  expires_at: timeField,
  tenant: z.string().describe('Id of the tenant whose credits it spends.'),
})

/** The end of a job by an owner. */
export const videoCancellationResponse = z.strictObject({
  object: z.literal('video.cancellation'),
  id: z.string(),
  tenant: z.string(),
  status: z.string(),
  changed: z.boolean().describe('False for a job that an operator cancelled before.'),
})

/** A new execution of a job. */
export const videoRedriveResponse = z.strictObject({
  object: z.literal('video.redrive'),
  id: z.string(),
  tenant: z.string(),
  execution: z.string(),
  replaced: z.enum(['missing', 'broken', 'ended']).describe('The state of the execution before.'),
})

const switched = {
  disabled: z.boolean(),
  switched_by: z.string().nullable().describe('Who switched it last; null where the configuration decides.'),
  switched_at: timeField.nullable(),
  warnings: z.array(z.string()).describe('Such as models that no enabled channel serves any more.'),
}

/** The switches of a channel. */
export const channelSwitchesResponse = z.strictObject({
  object: z.literal('channel.switches'),
  id: z.string(),
  weight: z.number().nullable().describe('In force; null for a channel that left the configuration.'),
  priority: z.number().nullable().describe('In force; null for a channel that left the configuration.'),
  ...switched,
})

/** The switches of a model. */
export const modelSwitchesResponse = z.strictObject({
  object: z.literal('model.switches'),
  id: z.string(),
  ...switched,
})
