/** The field that the gateway adds to a usage. */
const COST = /,?"cost":\d+(?:\.\d+)?(?=\s*\})/g

/** A response without the cost in its usage: the upstream's own bytes are left. */
export function withoutCost(text: string): string {
  return text.replaceAll(COST, '')
}
