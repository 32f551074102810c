import * as z from 'zod'
import { AMOUNT_MICROCREDITS_MAX, parseCredits } from '../money/money.ts'

/** A decimal string in credits, so that no floating-point number holds money. */
export const price = z.string({ message: 'write the price as a decimal string in credits, such as "0.14"' }).refine(
  (text) => {
    try {
      return parseCredits(text) <= AMOUNT_MICROCREDITS_MAX
    } catch {
      return false
    }
  },
  { message: 'write a decimal string in credits with at most six places, such as "0.14"' },
)
