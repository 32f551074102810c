import { formatCredits, type Microcredits } from './money.ts'

/** Why a request was refused for its price: what it would have locked, and what there was. */
export type Shortfall = {
  readonly needed: Microcredits
  /** Of the balance that refused it; below zero after an overdraft. */
  readonly available: Microcredits
  /** What would do, such as `set max_tokens to at most 12`. */
  readonly advice?: string | undefined
}

/** In words, for a person. */
export function shortfallSentence({ needed, available, advice }: Shortfall): string {
  const amounts = `it needs ${formatCredits(needed)} credits, ${formatCredits(available)} are available`
  return advice === undefined ? amounts : `${amounts}; ${advice}`
}

/**
 * The largest count of something whose bound the balance covers; 0 where not one is.
 * @param costOf grows with the count.
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
  /** The name of the limit that the client uses. */
  readonly name: string
  /** The limit that was refused. */
  readonly most: number
  readonly costOf: (outputTokensMax: number) => Microcredits
}

/** What would do for a chat or a completion; undefined where its price is fixed. */
export function adviseOnOutput(available: Microcredits, { model, name, most, costOf }: Output): string | undefined {
  if (model.billing === 'per_request') {
    return undefined
  }
  const tokens = affordableCount(available, { most, costOf })
  return tokens > 0 ? `set ${name} to at most ${tokens}` : 'shorten the prompt, or ask for fewer completions'
}
