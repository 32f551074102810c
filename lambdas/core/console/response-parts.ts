import * as z from 'zod'
import { PERIOD_KINDS } from '../money/budget.ts'

/** Credits in a response. */
export const amountField = z.string().describe('Credits, as a decimal string.')

/** A time in a response. */
export const timeField = z.int().describe('Unix seconds.')

/** A tenant by its id and its name. */
export const tenantName = z.strictObject({ id: z.string(), name: z.string() })

/** A budget of a tenant or a key, as it counts now. */
export const budgetResponse = z.strictObject({
  amount: amountField.describe('What may be spent in one period.'),
  period: z.enum(PERIOD_KINDS).describe('In UTC. `total` never starts again.'),
  spent: amountField.describe('Settled in this period.'),
  held: amountField.describe('Reserved now.'),
  resets_at: timeField.nullable().describe('When the next period begins; null for `total`.'),
})

/** Counted usage of one settlement. */
export const usageCounts = z.strictObject({
  input_tokens: z.int(),
  cached_input_tokens: z.int(),
  cache_write_tokens: z.int(),
  output_tokens: z.int(),
  video_seconds: z.number(),
  images: z.int(),
})

/** One page of a list. A filtered page may be short although another one follows. */
export function pageOf<Row extends z.ZodType>(row: Row) {
  return z.strictObject({
    object: z.literal('list'),
    data: z.array(row),
    has_more: z.boolean().describe('Whether another page follows. A filtered page may be short.'),
    next: z.string().nullable().describe('The value of `after` for the next page; null on the last page.'),
    as_of: timeField.describe('When the rows were read, or when the summary that holds them was written.'),
  })
}
