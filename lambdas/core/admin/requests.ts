import * as z from 'zod/mini'
import { type BudgetLimit, PERIOD_KINDS } from '../budgets.ts'
import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import {
  CHANNEL_PRIORITY_MAX,
  CHANNEL_WEIGHT_MAX,
  OPEN_JOBS_DEFAULT,
  RATE_PER_MINUTE_DEFAULT,
  RATE_PER_MINUTE_MAX,
} from '../limits.ts'
import { InvalidAmountError, type Microcredits, parseCredits, parseSignedCredits, ZERO } from '../money.ts'
import { isPrintable, withoutSecrets } from '../redaction.ts'

/** An object of a request body. Unknown fields are refused, and the message lists the known ones. */
export function requestObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ')
  return z.strictObject(shape, {
    error: ({ code }) =>
      code === 'unrecognized_keys' ? `unknown field; allowed: ${allowed}` : `use a JSON object with: ${allowed}`,
  })
}

/** The body of a change, which needs at least one field. */
export function changeObject<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const allowed = Object.keys(shape).join(', ')
  return requestObject(shape).check(
    z.refine((change) => Object.keys(change).length > 0, {
      error: `nothing to change: send at least one of ${allowed}`,
    }),
  )
}

/** A longer name of an unknown field is cut in the error. */
const NAME_CHARACTERS_MAX = 64

/**
 * Checks the parsed body of a request of the console.
 * @throws InvalidRequestError that names the field, says what is wrong and what is allowed.
 */
export function parseRequest<Schema extends z.ZodMiniType>(schema: Schema, body: unknown): z.output<Schema> {
  const parsed = schema.safeParse(body, { reportInput: false })
  if (!parsed.success) {
    throw new InvalidRequestError(parsed.error.issues.slice(0, 1).map(toIssue))
  }
  return parsed.data
}

function toIssue(issue: z.core.$ZodIssue): RequestIssue {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
  const path = [...issue.path, ...unknown].map((name) => String(name).slice(0, NAME_CHARACTERS_MAX))
  return { path: path.join('.'), message: issue.message }
}

/** Longer than any amount; a longer string is refused before it is parsed. */
const AMOUNT_CHARACTERS_MAX = 24

const AMOUNT_ALLOWED = 'use a decimal string of credits, such as "0.25"'

function amountField(parse: (text: string) => Microcredits, description: string) {
  const text = z.string(AMOUNT_ALLOWED).check(z.maxLength(AMOUNT_CHARACTERS_MAX, AMOUNT_ALLOWED))
  const amount = z.transform((input: string, { issues }): Microcredits => {
    try {
      return parse(input)
    } catch (error) {
      const message = error instanceof InvalidAmountError ? error.message : 'no amount'
      issues.push({ code: 'custom', message, input })
      return z.NEVER
    }
  })
  return z.pipe(text, amount).check(z.describe(description))
}

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

/** A budget as a request names it. */
export const budgetField = z.pipe(
  requestObject({
    amount: amountField(parseCredits, 'What may be spent in one period, as a decimal string of credits.'),
    period: z
      .enum(PERIOD_KINDS, `use ${PERIOD_KINDS.join(', ')}`)
      .check(z.describe('In UTC. `total` never starts again.')),
  }),
  z.transform(({ amount, period }): BudgetLimit => ({ amount, kind: period })),
)

/** A line for people, which the console and the commands show. */
function lineField(charactersMax: number, description: string) {
  const allowed = `use one line of 1 to ${charactersMax} visible characters`
  return z.string(allowed).check(
    z.maxLength(charactersMax, allowed),
    z.refine((text) => text.trim() !== '' && isPrintable(text) && text.isWellFormed(), { error: allowed, abort: true }),
    z.refine((text) => withoutSecrets(text) === text, 'contains a key, a secret or a digest: leave it out'),
    z.describe(description),
  )
}

/** A name of a tenant or a key. */
export const nameField = lineField(200, 'For people.')

/** Why something is done: in the audit log, and in the ledger where money moves. */
export const reasonField = lineField(500, 'Why, for the audit log.')

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

const OVERLAP_ALLOWED = 'use a whole number of seconds from 0 to 2592000'

/** A number of seconds up to 30 days. */
export const overlapField = z
  .int(OVERLAP_ALLOWED)
  .check(
    z.minimum(0, OVERLAP_ALLOWED),
    z.maximum(30 * 24 * 60 * 60, OVERLAP_ALLOWED),
    z.describe('How long the old one keeps working, in seconds. Default: a day.'),
  )

/** Repeats something that was done before and is still under way. */
export const againField = z
  .boolean('use true or false')
  .check(z.describe('Permits a second rotation while the first one is under way; without it that is a 409.'))

/** A time in the future, in Unix seconds. The year 2500 is far enough for every end. */
export const endField = z
  .int('use Unix seconds, as a whole number')
  .check(
    z.minimum(0, 'use Unix seconds, as a whole number'),
    z.maximum(16_725_225_600, 'use Unix seconds before the year 2500'),
  )

const OPEN_JOBS_ALLOWED = 'use a whole number from 0 to 1000000, or null for no limit'

const openJobsField = z
  .nullable(z.int(OPEN_JOBS_ALLOWED).check(z.minimum(0, OPEN_JOBS_ALLOWED), z.maximum(1_000_000, OPEN_JOBS_ALLOWED)))
  .check(z.describe('Video jobs that may be open at a time; null for no limit.'))

const budgetOrNone = z.nullable(budgetField).check(z.describe('Null for no budget.'))

/** The body of `POST /admin/v1/tenants`. */
export const createTenantRequest = requestObject({
  name: nameField,
  open_jobs_max: z._default(openJobsField, OPEN_JOBS_DEFAULT),
  budget: z._default(budgetOrNone, null),
})

/** The body of `PATCH /admin/v1/tenants/{tenant_id}`. */
export const changeTenantRequest = changeObject({
  name: z.optional(nameField),
  open_jobs_max: z.optional(openJobsField),
  budget: z.optional(budgetOrNone),
})

/** The body of `POST .../grants`. */
export const grantRequest = requestObject({
  credits: positiveCreditsField,
  id: rowIdField,
  note: z.optional(reasonField),
})

/** The body of `POST .../adjustments`. */
export const adjustmentRequest = requestObject({
  amount: signedCreditsField,
  reason: reasonField,
  id: rowIdField,
  allow_debt: z
    ._default(z.boolean('use true or false'), false)
    .check(z.describe('Whether the available balance may fall below zero; otherwise that is a 409.')),
})

/** The body of `POST .../suspension`. */
export const suspensionRequest = requestObject({ reason: z.optional(reasonField) })

/** The body of `POST .../callback-secret`. */
export const callbackSecretRequest = requestObject({
  rotate: z
    ._default(z.boolean('use true or false'), false)
    .check(z.describe('Makes a new secret; otherwise the current one is shown.')),
  overlap_seconds: z.optional(overlapField),
  again: z._default(againField, false),
}).check(
  z.refine(({ rotate, overlap_seconds, again }) => rotate || (overlap_seconds === undefined && !again), {
    path: ['rotate'],
    error: 'overlap_seconds and again belong to a rotation: send rotate with true',
  }),
)

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

const WEIGHT_ALLOWED = `use a number above 0, at most ${CHANNEL_WEIGHT_MAX}`
const PRIORITY_ALLOWED = `use a whole number from 0 to ${CHANNEL_PRIORITY_MAX}`

const disabledField = z.boolean('use true or false')

/** The body of `PATCH /admin/v1/channels/{channel_id}`. */
export const changeChannelRequest = changeObject({
  disabled: z.optional(disabledField).check(z.describe('A disabled channel gets no new work; its open jobs go on.')),
  weight: z
    .optional(z.number(WEIGHT_ALLOWED).check(z.positive(WEIGHT_ALLOWED), z.maximum(CHANNEL_WEIGHT_MAX, WEIGHT_ALLOWED)))
    .check(z.describe('Share among channels of equal priority: above 0, at most 1000.')),
  priority: z
    .optional(
      z.int(PRIORITY_ALLOWED).check(z.minimum(0, PRIORITY_ALLOWED), z.maximum(CHANNEL_PRIORITY_MAX, PRIORITY_ALLOWED)),
    )
    .check(z.describe('The lowest number is tried first, from 0 to 1000.')),
})

/** The body of `PATCH /admin/v1/models/{model}`. */
export const changeModelRequest = requestObject({
  disabled: disabledField.check(z.describe('A disabled model is unknown to clients.')),
})

/** The body of a request that has nothing to say. */
export const emptyRequest = requestObject({})
