import * as z from 'zod/mini'

/** A count in an item; zero where it is left out. The codec reads large counts as bigint. */
export const countAttribute = z._default(z.pipe(z.union([z.number(), z.bigint()]), z.transform(Number)), 0)

/** The attributes of counted usage, in a row of the ledger and in a counter alike. */
export const usageAttributes = {
  inputTokens: countAttribute,
  cachedInputTokens: countAttribute,
  cacheWriteTokens: countAttribute,
  outputTokens: countAttribute,
  videoMilliseconds: countAttribute,
  images: countAttribute,
}
