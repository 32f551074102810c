import type { CompletionRequest } from '../contract/completion-request.ts'
import type { Microcredits } from '../money/money.ts'
import { countedTokens, inputTokensOf, sumOfTokenCounts, type TokenCounts } from '../quota/token-counts.ts'
import type { ChatChoice, ChatChoices, ChatIdentity } from './chat-choices.ts'
import { costNumber } from './cost-field.ts'

/** Id and time of every response and of every chunk of a stream. */
export type CompletionHead = {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
}

/** The replies to one prompt: that of the first call, then those of the calls for missing choices. */
export type PromptReplies = readonly ChatChoices[]

/** How many completions the replies to a prompt lack. */
export function missingChoices(answers: PromptReplies, n: number): number {
  return Math.max(0, n - choicesOf(answers).length)
}

/**
 * Makes one response of the replies to every prompt, as JSON: choice `k` of prompt `i` has the index `i * n + k`, and
 * the usage is the sum. It is left out when an upstream reported none, because a part of a sum is no usage.
 * @param answers the replies by prompt; none of them may lack a choice ({@link missingChoices}).
 * @param fallback replaces an id and a time that the first reply leaves out.
 * @param cost shown in the usage; undefined for none.
 */
export function completionResponse(
  request: CompletionRequest,
  answers: readonly PromptReplies[],
  { fallback, cost }: { readonly fallback: CompletionHead; readonly cost: Microcredits | undefined },
): string {
  const { id, created } = completionHead(answers[0]?.[0], fallback)
  const usage = sumOfUsages(answers.flat().map((answer) => answer.usage))
  return JSON.stringify({
    id,
    object: 'text_completion',
    created,
    model: request.model.id,
    choices: answers.flatMap((promptAnswers, promptIndex) => completionChoices(request, promptAnswers, promptIndex)),
    ...(usage === undefined ? {} : { usage: completionUsage(usage, cost) }),
  })
}

/** Surplus choices of an upstream are dropped. */
function completionChoices(request: CompletionRequest, answers: PromptReplies, promptIndex: number) {
  const echo = request.echo ? (request.prompts[promptIndex] ?? '') : ''
  return choicesOf(answers)
    .slice(0, request.n)
    .map(({ content, finishReason }, choice) =>
      completionChoice({
        text: echo + content + request.suffix,
        index: promptIndex * request.n + choice,
        finishReason,
      }),
    )
}

function choicesOf(answers: PromptReplies): ChatChoice[] {
  return answers.flatMap(({ choices }) => choices)
}

/** An element of `choices`, of a response or of a chunk. Fields in the order of docs/api.md. */
export function completionChoice({
  text,
  index,
  finishReason,
}: {
  text: string
  index: number
  finishReason: string | null
}) {
  return { text, index, logprobs: null, finish_reason: finishReason }
}

/** `cmpl-L0` for the chat reply `chatcmpl-L0`; the fallback replaces what the upstream leaves out. */
export function completionHead(answer: ChatIdentity | undefined, fallback: CompletionHead): CompletionHead {
  return {
    id: answer?.id === undefined ? fallback.id : `cmpl-${answer.id.replace(CHAT_ID_PREFIX, '')}`,
    created: answer?.created ?? fallback.created,
  }
}

const CHAT_ID_PREFIX = /^(?:chat)?cmpl-/

/** Undefined if one of the usages is. */
export function sumOfUsages(usages: readonly (TokenCounts | undefined)[]): TokenCounts | undefined {
  const known = usages.filter((usage) => usage !== undefined)
  return known.length === usages.length ? sumOfTokenCounts(known) : undefined
}

/** The field `usage` of openapi.json: with details of the prompt if a cache had to do with it, and with the cost if there is one. */
export function completionUsage(counts: TokenCounts, cost: Microcredits | undefined) {
  const promptTokens = inputTokensOf(counts)
  const { cachedInputTokens, cacheWriteTokens } = countedTokens(counts)
  const details = {
    ...(cachedInputTokens > 0 ? { cached_tokens: cachedInputTokens } : {}),
    ...(cacheWriteTokens > 0 ? { cache_write_tokens: cacheWriteTokens } : {}),
  }
  return {
    prompt_tokens: promptTokens,
    completion_tokens: counts.output,
    total_tokens: promptTokens + counts.output,
    ...(Object.keys(details).length > 0 ? { prompt_tokens_details: details } : {}),
    ...(cost === undefined ? {} : { cost: costNumber(cost) }),
  }
}
