import { type Microcredits, ZERO } from '#core/money/money.ts'
import { adviseOnOutput } from '#core/money/shortfall.ts'
import { completionCost, completionCostMax, type PromptBounds, type PromptEnd } from '#core/quota/completion-cost.ts'
import type { ChatUsage } from '#core/quota/token-usage.ts'
import { sumOfUsages } from '#core/relay/completion-reply.ts'
import type { Bill } from '../bill-request.ts'
import { tokensOf } from '../measure-request.ts'
import type { RelayExchange } from '../relay-exchange.ts'
import { type CompletionExchange, type PromptRun, REPEATS_MAX } from './completion-exchange.ts'

type Bounded = Pick<CompletionExchange, 'completion' | 'callBytes'>
type Billed = Bounded & { readonly request: Pick<RelayExchange, 'note'> }

/** What is locked for a request: an upper bound of what its prompts can come to. */
export function completionEstimate(exchange: Bounded): Microcredits {
  return completionCostMax(exchange.completion.model, allBounds(exchange))
}

function allBounds(exchange: Bounded): readonly PromptBounds[] {
  return exchange.completion.prompts.map((_, promptIndex) => promptBounds(promptIndex, exchange))
}

/** Of too little quota: how long the completions are that the balance covers. */
export function adviseOnCompletion(exchange: Bounded, available: Microcredits): string | undefined {
  const { model, maxTokens, maxTokensField } = exchange.completion
  const bounds = allBounds(exchange)
  const boundsOf = (outputTokensMax: number) => bounds.map((each) => ({ ...each, outputTokensMax }))
  const costOf = (outputTokensMax: number) => completionCostMax(model, boundsOf(outputTokensMax))
  return adviseOnOutput(available, { model, name: maxTokensField, most: maxTokens, costOf })
}

function usagesOf(end: PromptEnd): readonly (ChatUsage | undefined)[] {
  switch (end.kind) {
    case 'unsent':
      return []
    case 'whole':
      return [end.usage]
    case 'partial':
      return end.calls.map(({ usage }) => usage)
    default:
      return end satisfies never
  }
}

/** Says what a request comes to, by how each prompt ended. One of which nothing came, or that nobody has seen, is free. */
export function billPrompts(exchange: Billed, bill: Bill, promptEnds: readonly PromptEnd[]): void {
  const { model } = exchange.completion
  const ends = promptEnds.map((end, promptIndex) => ({ bounds: promptBounds(promptIndex, exchange), end }))
  const { actual, isEstimated } = completionCost(model, ends)
  if (actual === ZERO) {
    return
  }
  const usage = sumOfUsages(promptEnds.flatMap(usagesOf))
  if (usage !== undefined) {
    exchange.request.note(tokensOf(usage))
  }
  if (isEstimated) {
    bill.settleByEstimate(actual)
  } else {
    bill.settle(actual)
  }
}

/**
 * Says what a request comes to that fails as a whole because a prompt was refused, which is the client's doing, because an
 * upstream leaves completions out, or because an answer is larger than what is held: the calls that were answered have cost
 * something.
 */
export function billAnsweredPrompts<Prompt extends PromptRun>(
  exchange: Billed,
  bill: Bill,
  { prompts, endOf }: { readonly prompts: readonly Prompt[]; readonly endOf: (prompt: Prompt) => PromptEnd },
): void {
  billPrompts(
    exchange,
    bill,
    prompts.map((prompt) => answeredOf(endOf(prompt))),
  )
}

function answeredOf(end: PromptEnd): PromptEnd {
  return end.kind === 'partial'
    ? { ...end, calls: end.calls.filter(({ kind }) => kind === 'ended' || kind === 'cut') }
    : end
}

/** No tokenizer makes more tokens than there are bytes, and the call's own syntax is longer than what a chat template adds. */
function promptBounds(promptIndex: number, { completion, callBytes }: Bounded): PromptBounds {
  const { model, n, maxTokens } = completion
  const bodyBytes = callBytes[promptIndex] ?? model.context_tokens
  return {
    bodyBytes,
    promptTokensMax: Math.min(model.context_tokens, bodyBytes),
    outputTokensMax: maxTokens,
    choices: n,
    callsMax: Math.min(n, REPEATS_MAX + 1),
  }
}
