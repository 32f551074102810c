import { formatCredits, type Microcredits } from './money.ts'

/** Why a reservation was refused. */
export type Shortfall = {
  /** The amount to reserve. */
  readonly needed: Microcredits
  /** The available balance; negative after an overdraft. */
  readonly available: Microcredits
  /** What the client can do, such as `set max_tokens to at most 12`. */
  readonly advice?: string | undefined
}

/** Explains a shortfall to a person. */
export function shortfallMessage({ needed, available, advice }: Shortfall): string {
  const amounts = `${formatCredits(needed)} credits are needed, but ${formatCredits(available)} are available`
  return advice === undefined ? amounts : `${amounts}; ${advice}`
}

/**
 * The largest count whose cost the balance covers; 0 if it does not cover one.
 * @param costOf the cost of a count; it must not decrease with the count.
 */
export function affordableCount(
  available: Microcredits,
  { most, costOf }: { readonly most: number; readonly costOf: (count: number) => Microcredits },
): number {
  let affordable = 0
  let excessive = most + 1
  while (excessive - affordable > 1) {
    const middle = Math.floor((affordable + excessive) / 2)
    if (costOf(middle) <= available) {
      affordable = middle
    } else {
      excessive = middle
    }
  }
  return affordable
}

type Output = {
  readonly model: { readonly billing: 'token' | 'per_request' }
  /** The field by which the client limits the output. */
  readonly name: string
  /** The refused value of that field. */
  readonly most: number
  readonly costOf: (outputTokensMax: number) => Microcredits
}

/** Advice for a chat or a completion that the balance does not cover; undefined for a fixed price. */
export function adviseOnOutput(available: Microcredits, { model, name, most, costOf }: Output): string | undefined {
  if (model.billing === 'per_request') {
    return undefined
  }
  const tokens = affordableCount(available, { most, costOf })
  return tokens > 0
    ? `set ${name} to at most ${tokens}`
    : 'no output tokens are affordable: shorten the prompt or request fewer completions'
}
