import { formatCredits, type Microcredits } from '#core/money/money.ts'
import { COST_HEADER } from '#core/relay/cost-field.ts'

/** The headers of a response that is not streamed: what its request costs; none where nothing is billed. */
export function costHeaders(cost: Microcredits | undefined): Readonly<Record<string, string>> {
  return cost === undefined ? {} : { [COST_HEADER]: formatCredits(cost) }
}
