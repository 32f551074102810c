import type { AdditionPlace } from '../json/remove-fields.ts'
import type { TextEdit } from '../json/text-edit.ts'
import { formatCredits, type Microcredits } from '../money.ts'

/** Header of a response that is not streamed: what its request is billed, as a decimal string in credits. */
export const COST_HEADER = 'x-reelgate-cost'

/**
 * An amount as a JavaScript number of credits, which JSON writes with the exact digits of the amount: up to 15 digits stay exact, and
 * no bill has more.
 */
export function costNumber(amount: Microcredits): number {
  return Number(formatCredits(amount))
}

/** Adds `cost`, the price of a usage in credits, to the usage: a JSON number with the exact digits of the amount. */
export function costAddition({ index, isAfterField }: AdditionPlace, amount: Microcredits): TextEdit {
  return { start: index, end: index, replacement: `${isAfterField ? ',' : ''}"cost":${formatCredits(amount)}` }
}
