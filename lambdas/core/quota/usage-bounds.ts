import type { ChatModel, EmbeddingModel } from '../catalogue/model.ts'
import type { ChatUsage } from './token-usage.ts'

/**
 * Upper bounds of the usage of a model, regardless of what its upstream reports. They are the limits of the model, not of the
 * request: a client that asks for less may be billed more than was reserved if its upstream ignores the limit or counts
 * reasoning on top.
 */

/** The bound of one chat call with this number of completions. */
export function chatUsageMax(
  { context_tokens, max_output_tokens }: Pick<ChatModel, 'context_tokens' | 'max_output_tokens'>,
  choices: number,
): ChatUsage {
  return { promptTokens: context_tokens, completionTokens: max_output_tokens * choices }
}

/** Reduces a reported usage to the bound. Returns the same object if nothing exceeds the bound. */
export function boundChatUsage(usage: ChatUsage, most: ChatUsage): ChatUsage {
  const promptTokens = Math.min(usage.promptTokens, most.promptTokens)
  const completionTokens = Math.min(usage.completionTokens, most.completionTokens)
  const isWithin = promptTokens === usage.promptTokens && completionTokens === usage.completionTokens
  return isWithin ? usage : { promptTokens, completionTokens }
}

/** The bound of one embedding request. */
export function embeddingTokensMax(
  { max_input_tokens }: Pick<EmbeddingModel, 'max_input_tokens'>,
  inputs: number,
): number {
  return max_input_tokens * inputs
}
