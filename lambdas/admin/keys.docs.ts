import * as z from 'zod'
import { amountField, isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { PERIOD_KINDS } from '#core/budgets.ts'
import { documentOperation } from './document.ts'
import { listKeys } from './keys.ts'
import { changeKey, createKey, createPlaygroundKey, revokeKey, rotateKey } from './keys.writes.ts'

/** A budget of a tenant or a key, as it counts now. */
export const budget = z.strictObject({
  amount: amountField.describe('What may be spent in one period.'),
  period: z.enum(PERIOD_KINDS).describe('In UTC. `total` never starts again.'),
  spent: amountField.describe('Settled in this period.'),
  held: amountField.describe('Reserved now.'),
  left: amountField.describe('What is neither spent nor held. Negative after an overdraft or a lowered amount.'),
  resets_at: isoTimeField.nullable().describe('When the next period begins; null for `total`.'),
})

/** An API key, never the key itself. */
const keyRow = z.strictObject({
  id: z.string().describe('Public id.'),
  tenant: z.string().describe('Id of the tenant.'),
  state: z.enum(['active', 'revoked', 'expired', 'suspended']).describe('The first one that applies.'),
  models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
  created_at: isoTimeField,
  name: z.string().nullable(),
  expires_at: isoTimeField.nullable(),
  rate_per_minute: z.int().nullable().describe('Null for no limit.'),
  budget: budget.nullable(),
})

const key = z.string().describe('The key itself. It is not shown again.')

const newKey = z.strictObject({
  id: z.string().describe('Public id.'),
  key,
  tenant: z.string().describe('Id of the tenant.'),
  models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
  name: z.string().optional(),
  expires_at: isoTimeField.optional().describe('Left out for a key that does not expire.'),
  rate_per_minute: z.int().optional().describe('Left out for no limit.'),
  budget: budget.optional(),
})

/** The operations of keys, as people read about them. */
export const KEY_DOCUMENTS = {
  listKeys: documentOperation(listKeys, {
    summary: 'list the public ids of keys; keys themselves are never shown',
    description: 'Of all tenants, or with `tenant` of one.',
    returns: 'Keys by id.',
    output: z.strictObject({ keys: z.array(keyRow), ...pageFields }),
  }),
  createKey: documentOperation(createKey, {
    summary: 'create a key; it is shown only once',
    returns: 'The key, shown once.',
    output: newKey,
  }),
  changeKey: documentOperation(changeKey, {
    summary: 'change the name, models, rate, expiry or budget of a key; the change holds from the next request on',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    returns: 'The key.',
    output: keyRow,
  }),
  rotateKey: documentOperation(rotateKey, {
    summary: 'replace a key; the old one keeps working for the overlap',
    description: 'The new key has the limits and the budget of the old one.',
    returns: 'The new key, shown once.',
    output: newKey.extend({
      replaces: z.string().describe('Public id of the old key.'),
      old_expires_at: isoTimeField.describe('When the old key ends.'),
    }),
  }),
  revokeKey: documentOperation(revokeKey, {
    summary: 'revoke a key: it is refused from the next request on',
    returns: 'The key.',
    output: z.strictObject({ id: z.string(), state: z.literal('revoked') }),
  }),
  createPlaygroundKey: documentOperation(createPlaygroundKey, {
    summary: 'create a key for the playground',
    description:
      'A session of an API key gets one with the models, the rate and the budget of that key, which ends with that key. An owner names a tenant. A viewer gets a 403.',
    returns: 'The key, which works for 15 minutes.',
    output: z.strictObject({
      key,
      expires_at: isoTimeField,
      tenant: z.string().describe('Id of the tenant whose credits it spends.'),
    }),
  }),
}

/** Parts of the responses that have names of their own in `admin-openapi.json`. */
export const KEY_SCHEMAS = { Key: keyRow, KeyBudget: budget }
