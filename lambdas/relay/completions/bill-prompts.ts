import { type Microcredits, ZERO } from '#core/money/money.ts'
import { adviseOnOutput } from '#core/money/shortfall.ts'
import {
  completionCharge,
  completionChargeMax,
  type PromptBounds,
  type PromptEnd,
} from '#core/quota/completion-cost.ts'
import type { Charge } from '#core/quota/counted-usage.ts'
import type { TokenCounts } from '#core/quota/token-counts.ts'
import { sumOfUsages } from '#core/relay/completion-reply.ts'
import type { Bill } from '../bill-request.ts'
import { tokensOf } from '../measure-request.ts'
import type { RelayExchange } from '../relay-exchange.ts'
import { type CompletionRun, REPEATS_MAX } from './completion-run.ts'

type Bounded = Pick<CompletionRun, 'completion' | 'callBytes'>
type Billed = Bounded & { readonly exchange: Pick<RelayExchange, 'note'> }

/** What is reserved for a request: an upper bound of what its prompts can cost. */
export function completionEstimate(run: Bounded): Charge {
  return completionChargeMax(run.completion.model, allBounds(run))
}

function allBounds(run: Bounded): readonly PromptBounds[] {
  return run.completion.prompts.map((_, promptIndex) => promptBounds(promptIndex, run))
}

/** Advice for a balance that is too low: the longest completions that it covers. */
export function adviseOnCompletion(run: Bounded, available: Microcredits): string | undefined {
  const { model, maxTokens, maxTokensField } = run.completion
  const bounds = allBounds(run)
  const boundsOf = (outputTokensMax: number) => bounds.map((each) => ({ ...each, outputTokensMax }))
  const costOf = (outputTokensMax: number) => completionChargeMax(model, boundsOf(outputTokensMax)).amount
  return adviseOnOutput(available, { model, name: maxTokensField, most: maxTokens, costOf })
}

function usagesOf(end: PromptEnd): readonly (TokenCounts | undefined)[] {
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

/** Says what a request costs by how each prompt ended. A prompt that nothing came of, or that was never sent, is free. */
export function billPrompts(run: Billed, bill: Bill, promptEnds: readonly PromptEnd[]): void {
  const { model } = run.completion
  const ends = promptEnds.map((end, promptIndex) => ({ bounds: promptBounds(promptIndex, run), end }))
  const { isEstimated, ...charge } = completionCharge(model, ends)
  if (charge.amount === ZERO) {
    return
  }
  const usage = sumOfUsages(promptEnds.flatMap(usagesOf))
  if (usage !== undefined) {
    run.exchange.note(tokensOf(usage))
  }
  if (isEstimated) {
    bill.settleByEstimate(charge)
  } else {
    bill.settle(charge)
  }
}

/** The end of a prompt without the calls that had not ended. */
export function onlyAnswered(end: PromptEnd): PromptEnd {
  return end.kind === 'partial'
    ? { ...end, calls: end.calls.filter(({ kind }) => kind === 'ended' || kind === 'cut') }
    : end
}

/** No tokenizer makes more tokens than bytes, and the call's own syntax is longer than what a chat template adds. */
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
