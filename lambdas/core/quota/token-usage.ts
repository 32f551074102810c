/** What an upstream says a chat has used. */
export type ChatUsage = { readonly promptTokens: number; readonly completionTokens: number }

/**
 * Reads `usage` of a chat answer: `prompt_tokens` and `completion_tokens`, or what `total_tokens` leaves for a missing one.
 * Undefined when there is none, or no whole number. A zero is a zero, but for parts that are both zero beside a
 * total that is not.
 */
export function readChatUsage(usage: unknown): ChatUsage | undefined {
  if (typeof usage !== 'object' || usage === null) {
    return undefined
  }
  const members: Readonly<Record<string, unknown>> = { ...usage }
  const prompt = tokenCount(members.prompt_tokens)
  const completion = tokenCount(members.completion_tokens)
  const total = tokenCount(members.total_tokens)
  const promptTokens = prompt ?? difference(total, completion)
  const completionTokens = completion ?? difference(total, prompt)
  if (promptTokens === undefined || completionTokens === undefined) {
    return undefined
  }
  const isContradicted = promptTokens === 0 && completionTokens === 0 && total !== undefined && total > 0
  return isContradicted ? undefined : { promptTokens, completionTokens }
}

/**
 * What can be believed of a usage once the answer is known: no answer with something in it has cost nothing at all. A usage
 * of a prompt alone stands.
 */
export function believedUsage(usage: ChatUsage | undefined, isGenerated: boolean): ChatUsage | undefined {
  return isGenerated && usage?.promptTokens === 0 && usage.completionTokens === 0 ? undefined : usage
}

/**
 * A whole number of tokens; undefined for anything else. It may be far above anything that a model can use: whoever bills it
 * bounds it first (`core/quota/usage-bounds.ts`).
 */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part
}
