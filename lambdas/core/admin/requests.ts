import * as z from 'zod/mini'
import { OPEN_JOBS_DEFAULT } from '../limits.ts'
import { InvalidAmountError, parseCredits, parseSignedCredits, ZERO } from '../money.ts'
import { changeObject, requestObject } from './parse-request.ts'
import { amountField, budgetField, nameField, reasonField } from './request-fields.ts'

/** Credits above zero. */
export const positiveCreditsField = amountField((text) => {
  const amount = parseCredits(text)
  if (amount === ZERO) {
    throw new InvalidAmountError(`${text}: use an amount above zero`)
  }
  return amount
}, 'Credits above zero, as a decimal string.')

/** Credits with a sign, other than zero. */
export const signedCreditsField = amountField(
  parseSignedCredits,
  'Credits with a sign, other than zero, as a decimal string such as `"-5"`.',
)

const ROW_ID_ALLOWED = 'use 1 to 64 letters, digits, and . : _ -'

/** Names a grant or an adjustment, so that a repeated request moves money once. */
export const rowIdField = z
  .string(ROW_ID_ALLOWED)
  .check(
    z.regex(/^[\w.:-]{1,64}$/, ROW_ID_ALLOWED),
    z.describe(
      'Makes the request safe to repeat: the same id moves money once. Such as a UUID or the number of an invoice.',
    ),
  )

const OPEN_JOBS_ALLOWED = 'use a whole number from 0 to 1000000, or null for no limit'

const openJobsField = z
  .nullable(z.int(OPEN_JOBS_ALLOWED).check(z.minimum(0, OPEN_JOBS_ALLOWED), z.maximum(1_000_000, OPEN_JOBS_ALLOWED)))
  .check(z.describe('Video jobs that may be open at a time; null for no limit.'))

const budgetOrNone = z.nullable(budgetField()).check(z.describe('Null for no budget.'))

/** The body of `POST /admin/v1/tenants`. */
export const createTenantRequest = requestObject({
  name: nameField(),
  open_jobs_max: z._default(openJobsField, OPEN_JOBS_DEFAULT),
  budget: z._default(budgetOrNone, null),
})

/** The body of `PATCH /admin/v1/tenants/{tenant_id}`. */
export const changeTenantRequest = changeObject({
  name: z.optional(nameField()),
  open_jobs_max: z.optional(openJobsField),
  budget: z.optional(budgetOrNone),
})

/** The body of `POST .../grants`. */
export const grantRequest = requestObject({
  credits: positiveCreditsField,
  id: rowIdField,
  note: z.optional(reasonField()),
})

/** The body of `POST .../adjustments`. */
export const adjustmentRequest = requestObject({
  amount: signedCreditsField,
  reason: reasonField(),
  id: rowIdField,
  allow_debt: z
    ._default(z.boolean('use true or false'), false)
    .check(z.describe('Whether the available balance may fall below zero; otherwise that is a 409.')),
})

/** The body of `POST .../suspension`. */
export const suspensionRequest = requestObject({ reason: z.optional(reasonField()) })
