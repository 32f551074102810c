import * as z from 'zod'

const amount = z.string().describe('Credits, as a decimal string.')

const budget = z
  .looseObject({
    amount: amount.describe('What the key may spend in one period.'),
    period: z.enum(['day', 'month', 'total']).describe('In UTC. `total` never starts again.'),
    spent: amount.describe('Settled in this period.'),
    held: amount.describe('Reserved now.'),
    resets_at: z.int().nullable().describe('Unix seconds at which the next period begins; null for `total`.'),
  })
  .nullable()
  .describe('Null for a key without a budget of its own.')

/** What a tenant and a key have. */
export const balanceResponse = z.looseObject({
  object: z.literal('balance'),
  unit: z.literal('credit'),
  available: amount.describe('What new requests may reserve. Negative after an overdraft.'),
  held: amount.describe('Reserved by open requests and jobs.'),
  spent: amount.describe('Settled since the tenant was created.'),
  granted: amount.describe('available + held + spent.'),
  key: z.looseObject({
    id: z.string().describe('Public id of your key.'),
    name: z.string().nullable(),
    models: z.array(z.string()).nullable().describe('Models that the key may use; null for all.'),
    expires_at: z.int().nullable().describe('Unix seconds; null for a key that does not expire.'),
    budget,
  }),
})
