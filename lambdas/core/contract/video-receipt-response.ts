import * as z from 'zod'

const amount = z.string().describe('Credits, as a decimal string.')

const line = z.looseObject({
  what: z.string().describe('What is billed: the tier of the price.'),
  quantity: z.string().describe('An exact decimal.'),
  unit: z.string().describe('`second`, `million tokens` or `request`.'),
  unit_price: amount,
  amount: amount.describe('quantity × unit_price, rounded half up to a millionth of a credit.'),
})

/** What a video would cost. */
export const videoQuoteResponse = z.looseObject({
  object: z.literal('video.quote'),
  model: z.string(),
  estimate: amount.describe('What a create would reserve: an upper bound of the cost.'),
  lines: z.array(line).describe('The estimate in its parts.'),
  available: amount.describe('What the tenant has left.'),
  affordable: z.boolean().describe('Whether the balance and the budgets allow the create at this moment.'),
})

/** What a video cost. */
export const videoReceiptResponse = z.looseObject({
  object: z.literal('video.receipt'),
  id: z.string().describe('Id of the job.'),
  model: z.string(),
  billing: z.string().describe('`per_second`, `token` or `per_request`.'),
  estimate: amount.describe('What was reserved.'),
  cost: amount.nullable().describe('What was billed; null while the job is open, `0` for a job that failed.'),
  lines: z.array(line).describe('The cost in its parts, whose amounts sum to it.'),
  ledger: z.array(
    z.looseObject({
      kind: z.enum(['reserve', 'settle', 'release']),
      amount: amount.describe('What was reserved.'),
      actual: amount.nullable().describe('What a settlement billed.'),
      at: z.int().describe('Unix seconds.'),
    }),
  ),
})
