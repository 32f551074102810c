import * as z from 'zod/mini'
import { type BudgetLimit, PERIOD_KINDS } from '../budgets.ts'
import { InvalidAmountError, type Microcredits, parseCredits } from '../money.ts'
import { isPrintable, withoutSecrets } from '../redaction.ts'
import { ISO_TIME } from './page-query.ts'
import { requestObject } from './parse-request.ts'

// Fields of requests are functions, so that a bundle contains those of its own operations alone.

/** Longer than any amount; a longer string is refused before it is parsed. */
const AMOUNT_CHARACTERS_MAX = 24

const AMOUNT_ALLOWED = 'use a decimal string of credits, such as "0.25"'

/** An amount of credits. @param parse throws InvalidAmountError for what is not allowed. */
export function amountField(parse: (text: string) => Microcredits, description: string) {
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

/** A budget as a request names it. */
export function budgetField() {
  return z.pipe(
    requestObject({
      amount: amountField(parseCredits, 'What may be spent in one period, as a decimal string of credits.'),
      period: z
        .enum(PERIOD_KINDS, `use ${PERIOD_KINDS.join(', ')}`)
        .check(z.describe('In UTC. `total` never starts again.')),
    }),
    z.transform(({ amount, period }): BudgetLimit => ({ amount, kind: period })),
  )
}

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
export function nameField() {
  return lineField(200, 'For people.')
}

/** Why something is done: in the audit log, and in the ledger where money moves. */
export function reasonField() {
  return lineField(500, 'Why, for the audit log.')
}

const ROW_ID_ALLOWED = 'use 1 to 64 letters, digits, and . : _ -'

/** Names a grant or an adjustment, so that a repeated request moves money once. */
export function rowIdField() {
  return z
    .string(ROW_ID_ALLOWED)
    .check(
      z.regex(/^[\w.:-]{1,64}$/, ROW_ID_ALLOWED),
      z.describe(
        'Makes the request safe to repeat: the same id moves money once. Such as a UUID or the number of an invoice.',
      ),
    )
}

/** How long what is replaced keeps working where nobody says otherwise. */
export const OVERLAP_MILLISECONDS = 24 * 60 * 60 * 1000

const OVERLAP_ALLOWED = 'use a whole number of seconds from 0 to 2592000'

/** A number of seconds up to 30 days. */
export function overlapField() {
  return z
    .int(OVERLAP_ALLOWED)
    .check(
      z.minimum(0, OVERLAP_ALLOWED),
      z.maximum(30 * 24 * 60 * 60, OVERLAP_ALLOWED),
      z.describe('How long the old one keeps working, in seconds. Default: a day.'),
    )
}

/** Repeats something that was done before and is still under way. */
export function againField() {
  return z
    .boolean('use true or false')
    .check(z.describe('Permits a second rotation while the first one is under way; without it that is a 409.'))
}

const TENANT_ID_ALLOWED = 'use 1 to 64 letters, digits, and . : _ -; not . or .. alone'

/** The id of a new tenant, so that a repeated request makes one tenant. Clients take `.` and `..` in a path for other paths. */
export function newTenantIdField() {
  return z
    .string(TENANT_ID_ALLOWED)
    .check(
      z.regex(/^(?!\.{1,2}$)[\w.:-]{1,64}$/, TENANT_ID_ALLOWED),
      z.describe('The id of the tenant, which makes the request safe to repeat. Default: a generated id.'),
    )
}

const KEY_ID_ALLOWED = 'use 8 letters and digits'

/** The public id of a new key, so that a repeated request makes one key. */
export function newKeyIdField() {
  return z
    .string(KEY_ID_ALLOWED)
    .check(
      z.regex(/^[0-9A-Za-z]{8}$/, KEY_ID_ALLOWED),
      z.describe('The public id of the key, which makes the request safe to repeat. Default: a generated id.'),
    )
}

const TIME_ALLOWED = 'use a time such as 2027-01-31T12:00:00Z'

/** A time with its zone, in whole seconds of Unix milliseconds. The year 2500 is far enough for every end. */
export function endField() {
  return z.pipe(
    z.string(TIME_ALLOWED).check(
      z.regex(ISO_TIME, TIME_ALLOWED),
      z.refine((text) => Date.parse(text) >= 0, { error: TIME_ALLOWED, abort: true }),
      z.refine((text) => Date.parse(text) < Date.UTC(2500, 0), 'use a time before the year 2500'),
    ),
    z.transform((text) => Math.floor(Date.parse(text) / 1000) * 1000),
  )
}

/** A tenant or another target by its id. */
export function idField() {
  return z.string('use an id').check(
    z.minLength(1, 'use an id'),
    z.maxLength(200, 'use an id of at most 200 characters'),
    // The table can hold no other text.
    z.refine((text) => text.isWellFormed(), 'use an id'),
  )
}
