import * as z from 'zod/mini'
import { RATE_PER_MINUTE_DEFAULT } from '../default-limits.ts'
import { RATE_PER_MINUTE_MAX } from '../quota/request-rate.ts'
import { changeObject, requestObject } from './parse-request.ts'
import { againField, budgetField, endField, nameField, overlapField } from './request-fields.ts'

const MODELS_ALLOWED = 'use a list of 1 to 200 model ids, or null for all models'

const modelsField = z
  .nullable(
    z
      .array(
        z.string(MODELS_ALLOWED).check(z.minLength(1, MODELS_ALLOWED), z.maxLength(200, MODELS_ALLOWED)),
        MODELS_ALLOWED,
      )
      .check(z.minLength(1, MODELS_ALLOWED), z.maxLength(200, MODELS_ALLOWED)),
  )
  .check(z.describe('Models that the key may use; null for all.'))

const RATE_ALLOWED = `use a whole number from 1 to ${RATE_PER_MINUTE_MAX}, or null for no limit`

const rateField = z
  .nullable(z.int(RATE_ALLOWED).check(z.minimum(1, RATE_ALLOWED), z.maximum(RATE_PER_MINUTE_MAX, RATE_ALLOWED)))
  .check(z.describe('Requests per minute; null for no limit.'))

const expiryField = z
  .nullable(endField)
  .check(z.describe('Unix seconds in the future; null for a key that does not expire.'))

/** A tenant or another target by its id. */
const idField = z
  .string('use an id')
  .check(z.minLength(1, 'use an id'), z.maxLength(200, 'use an id of at most 200 characters'))

/** The body of `POST /admin/v1/keys`. */
export const createKeyRequest = requestObject({
  tenant: idField.check(z.describe('The id of the tenant.')),
  name: z._default(z.nullable(nameField), null),
  models: z._default(modelsField, null),
  rate_per_minute: z._default(rateField, RATE_PER_MINUTE_DEFAULT),
  budget: z._default(z.nullable(budgetField), null).check(z.describe('Null for no budget.')),
  expires_at: z._default(expiryField, null),
})

/** The body of `PATCH /admin/v1/keys/{key_id}`. */
export const changeKeyRequest = changeObject({
  name: z.optional(z.nullable(nameField)),
  models: z.optional(modelsField),
  rate_per_minute: z.optional(rateField),
  budget: z.optional(z.nullable(budgetField)).check(z.describe('Null takes the key out of its budget.')),
  expires_at: z.optional(expiryField),
})

/** The body of `POST .../rotation`. */
export const rotationRequest = requestObject({
  overlap_seconds: z.optional(overlapField),
  expires_at: z
    .optional(endField)
    .check(z.describe('End of the new key, in Unix seconds. Default: the lifetime of the old one.')),
  again: z._default(againField, false),
})

/** The body of `POST /admin/v1/playground/key`. */
export const playgroundKeyRequest = requestObject({
  tenant: z.optional(idField).check(z.describe('For owners: the id of the tenant. An API key has its own.')),
})
