import type * as z from 'zod'
import { price } from './price.ts'
import { strictObject } from './strict-object.ts'

/** The prices of a chat model by tokens: decimal strings in credits, for a million tokens each. */
export type TokenPrices = {
  /** Input that no other price of this row covers. */
  readonly input: string
  readonly output: string
  /** Input that the upstream read from a cache. */
  readonly cached_input?: string | undefined
  /** Input that the upstream read from a cache which the request had asked for. */
  readonly cached_input_explicit?: string | undefined
  /** Input that the upstream wrote to a cache. */
  readonly cache_write?: string | undefined
  /** Input that the upstream wrote to a cache that lasts for an hour or longer. */
  readonly cache_write_1h?: string | undefined
}

/** Longer names of the same prices. */
const older = {
  input_per_million: price.optional().meta({ description: 'The same as input.' }),
  output_per_million: price.optional().meta({ description: 'The same as output.' }),
}

type Written = {
  readonly [Name in keyof TokenPrices | keyof typeof older]?: string | undefined
}

/** A price row of a chat model, with either name of each price. */
export const chatTokenPrices = strictObject({
  input: price.optional(),
  output: price.optional(),
  cached_input: price.optional().meta({ description: 'Input read from a cache. Without it: input.' }),
  cached_input_explicit: price
    .optional()
    .meta({ description: 'Input read from a cache that the request asked for. Without it: cached_input.' }),
  cache_write: price.optional().meta({ description: 'Input written to a cache. Without it: input.' }),
  cache_write_1h: price
    .optional()
    .meta({ description: 'Input written to a cache for an hour or longer. Without it: cache_write.' }),
  ...older,
})
  .superRefine((row, context) => {
    needOneName('input', row, context)
    needOneName('output', row, context)
  })
  .transform(
    ({ input, output, input_per_million = '', output_per_million = '', ...rest }: Written): TokenPrices => ({
      input: input ?? input_per_million,
      output: output ?? output_per_million,
      ...rest,
    }),
  )

/** A price row of an embedding model, with either name of its price. */
export const embeddingTokenPrices = strictObject({
  input: price.optional(),
  input_per_million: older.input_per_million,
})
  .superRefine((row, context) => needOneName('input', row, context))
  .transform(({ input, input_per_million = '' }: Pick<Written, 'input' | 'input_per_million'>) => ({
    input: input ?? input_per_million,
  }))

function needOneName(name: 'input' | 'output', row: Written, context: z.RefinementCtx): void {
  const older = `${name}_per_million` as const
  const isMissing = row[name] === undefined && row[older] === undefined
  if (isMissing || (row[name] !== undefined && row[older] !== undefined)) {
    const message = isMissing ? `write ${name}, the price of a million tokens` : `the same as ${older}; leave one out`
    context.addIssue({ code: 'custom', path: [name], message })
  }
}
