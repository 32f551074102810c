/** The reported usage of a chat. */
export type ChatUsage = { readonly promptTokens: number; readonly completionTokens: number }

/**
 * Reads `usage` of a chat reply: `prompt_tokens` and `completion_tokens`; a missing one is the difference to `total_tokens`.
 * Undefined if the counts are missing, are no integers, or are both zero beside a total above zero.
 */
export function readChatUsage(usage: unknown): ChatUsage | undefined {
  if (typeof usage !== 'object' || usage === null) {
    return undefined
  }
  const fields: Readonly<Record<string, unknown>> = { ...usage }
  const prompt = tokenCount(fields.prompt_tokens)
  const completion = tokenCount(fields.completion_tokens)
  const total = tokenCount(fields.total_tokens)
  const promptTokens = prompt ?? difference(total, completion)
  const completionTokens = completion ?? difference(total, prompt)
  if (promptTokens === undefined || completionTokens === undefined) {
    return undefined
  }
  const isContradicted = promptTokens === 0 && completionTokens === 0 && total !== undefined && total > 0
  return isContradicted ? undefined : { promptTokens, completionTokens }
}

/** Drops a usage of zero for a reply with generated text, which cannot be free. */
export function believedUsage(usage: ChatUsage | undefined, isGenerated: boolean): ChatUsage | undefined {
  return isGenerated && usage?.promptTokens === 0 && usage.completionTokens === 0 ? undefined : usage
}

/** Reads a number of tokens; undefined for anything else. Callers bound the number before billing (`usage-bounds.ts`). */
export function tokenCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined
}

function difference(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || part > total ? undefined : total - part
}
