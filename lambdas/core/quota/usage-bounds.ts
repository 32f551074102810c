import type { ChatModel, EmbeddingModel } from '../catalogue/model.ts'
import type { ChatUsage } from './token-usage.ts'

/**
 * What a model can have used at most, whatever its upstream reports. The bounds are the model's own: a client that asks for
 * less may be billed more than was reserved for it, when its upstream obeys it badly or counts reasoning that nobody bounded.
 */

/** The most that one chat call can use. `choices` is how many completions were asked for. */
export function chatUsageMax(
  { context_tokens, max_output_tokens }: Pick<ChatModel, 'context_tokens' | 'max_output_tokens'>,
  choices: number,
): ChatUsage {
  return { promptTokens: context_tokens, completionTokens: max_output_tokens * choices }
}

/** Each part of a reported usage, no larger than that of the bound. The same object where nothing was too large. */
export function boundChatUsage(usage: ChatUsage, most: ChatUsage): ChatUsage {
  const promptTokens = Math.min(usage.promptTokens, most.promptTokens)
  const completionTokens = Math.min(usage.completionTokens, most.completionTokens)
  const isWithin = promptTokens === usage.promptTokens && completionTokens === usage.completionTokens
  return isWithin ? usage : { promptTokens, completionTokens }
}

/** The most tokens that one embedding request can use. */
export function embeddingTokensMax(
  { max_input_tokens }: Pick<EmbeddingModel, 'max_input_tokens'>,
  inputs: number,
): number {
  return max_input_tokens * inputs
}
