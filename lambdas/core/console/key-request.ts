import * as z from 'zod'
import { RATE_PER_MINUTE_DEFAULT } from '../default-limits.ts'
import { RATE_PER_MINUTE_MAX } from '../quota/request-rate.ts'
import { changeObject, requestObject } from './parse-request.ts'
import { againField, budgetField, endField, nameField, overlapField } from './request-fields.ts'

const MODELS_ALLOWED = 'use a list of 1 to 200 model ids, or null for all models'

const modelsField = z
  .array(z.string(MODELS_ALLOWED).min(1, MODELS_ALLOWED).max(200, MODELS_ALLOWED), MODELS_ALLOWED)
  .min(1, MODELS_ALLOWED)
  .max(200, MODELS_ALLOWED)
  .nullable()
  .describe('Models that the key may use; null for all.')

const RATE_ALLOWED = `use a whole number from 1 to ${RATE_PER_MINUTE_MAX}, or null for no limit`

const rateField = z
  .int(RATE_ALLOWED)
  .min(1, RATE_ALLOWED)
  .max(RATE_PER_MINUTE_MAX, RATE_ALLOWED)
  .nullable()
  .describe('Requests per minute; null for no limit.')

const expiryField = endField.nullable().describe('Unix seconds in the future; null for a key that does not expire.')

/** A tenant or another target by its id. */
const idField = z.string('use an id').min(1, 'use an id').max(200, 'use an id of at most 200 characters')

/** The body of `POST /admin/v1/keys`. */
export const createKeyRequest = requestObject({
  tenant: idField.describe('The id of the tenant.'),
  name: nameField.nullable().default(null),
  models: modelsField.default(null),
  rate_per_minute: rateField.default(RATE_PER_MINUTE_DEFAULT),
  budget: budgetField.nullable().default(null).describe('Null for no budget.'),
  expires_at: expiryField.default(null),
})

/** The body of `PATCH /admin/v1/keys/{key_id}`. */
export const changeKeyRequest = changeObject({
  name: nameField.nullable().optional(),
  models: modelsField.optional(),
  rate_per_minute: rateField.optional(),
  budget: budgetField.nullable().optional().describe('Null takes the key out of its budget.'),
  expires_at: expiryField.optional(),
})

/** The body of `POST .../rotation`. */
export const rotationRequest = requestObject({
  overlap_seconds: overlapField.optional(),
  expires_at: endField
    .optional()
    .describe('End of the new key, in Unix seconds. Default: the lifetime of the old one.'),
  again: againField.default(false),
})

/** The body of `POST /admin/v1/playground/key`. */
export const playgroundKeyRequest = requestObject({
  tenant: idField.optional().describe('For owners: the id of the tenant. An API key has its own.'),
})
