import * as z from 'zod/mini'
import { PERIOD_KINDS } from '../money/budget.ts'
import type { BudgetLimit } from '../money/budget-limit.ts'
import { InvalidAmountError, type Microcredits, parseCredits, ZERO } from '../money/money.ts'
import { parseSignedCredits } from '../money/signed-credits.ts'
import { isPrintable } from '../printable.ts'
import { withoutSecrets } from '../without-secrets.ts'
import { requestObject } from './parse-request.ts'

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
