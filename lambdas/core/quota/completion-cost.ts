import type { ChatModel } from '../catalogue/model.ts'
import type { ChatUsage } from '../relay/token-usage.ts'
import { brokenStreamCost, type ChatBounds, chatCost, chatCostMax } from './chat-cost.ts'
import { type Microcredits, ZERO } from './money.ts'

/** What bounds the cost of one prompt. */
export type PromptBounds = ChatBounds & {
  /** How often its chat call may be made, where an upstream gives fewer completions than it is asked for. */
  readonly callsMax: number
  /** Length of the chat call in UTF-8. */
  readonly bodyBytes: number
}

/** How the completions of one prompt ended, and the usage that its upstreams reported, if all of them did. */
export type PromptEnd =
  /** No upstream was called. */
  | { readonly kind: 'unsent' }
  /** Answered to the end; also a whole answer that never came, because the client had left and nobody waited for it. */
  | { readonly kind: 'whole'; readonly usage: ChatUsage | undefined }
  | {
      /**
       * A stream that failed, or was given up because another prompt failed, after the client had seen a part of the answer
       * (`broken`); or that was not read to its end, because the client had left (`abandoned`).
       */
      readonly kind: 'broken' | 'abandoned'
      readonly usage: ChatUsage | undefined
      /** Generated text that has come so far, in UTF-8. */
      readonly textBytes: number
    }

/** Each prompt has chat calls of its own, so the bound is the sum of theirs. */
export function completionCostMax(model: ChatModel, prompts: readonly PromptBounds[]): Microcredits {
  return sum(prompts.map((bounds) => promptCostMax(model, bounds)))
}

/** Every call bills the prompt; all of them together bill the completions once. */
function promptCostMax(model: ChatModel, { promptTokensMax, callsMax, ...bounds }: PromptBounds): Microcredits {
  return chatCostMax(model, { ...bounds, promptTokensMax: promptTokensMax * callsMax })
}

/**
 * What a legacy completion is billed: the sum of what the upstreams reported. A prompt without a reported usage counts at
 * its share of the reservation, or by the text that came if its stream was cut.
 * @returns also whether any prompt was billed without its upstream's word.
 */
export function completionCost(
  model: ChatModel,
  prompts: readonly { readonly bounds: PromptBounds; readonly end: PromptEnd }[],
): { readonly actual: Microcredits; readonly isEstimated: boolean } {
  const costs = prompts.map(({ bounds, end }) => promptCost(model, bounds, end))
  return {
    actual: sum(costs.map(({ actual }) => actual)),
    isEstimated: costs.some(({ isEstimated }) => isEstimated),
  }
}

type Cost = { readonly actual: Microcredits; readonly isEstimated: boolean }

const FREE: Cost = { actual: ZERO, isEstimated: false }

function promptCost(model: ChatModel, bounds: PromptBounds, end: PromptEnd): Cost {
  if (end.kind === 'unsent') {
    return FREE
  }
  if (end.usage !== undefined) {
    return { actual: chatCost(model, end.usage), isEstimated: false }
  }
  const locked = promptCostMax(model, bounds)
  if (end.kind === 'whole') {
    return { actual: locked, isEstimated: true }
  }
  if (end.kind === 'broken' && end.textBytes === 0) {
    return FREE
  }
  const { bodyBytes } = bounds
  const actual = brokenStreamCost(model, { bodyBytes, relayedTextBytes: end.textBytes, locked })
  return { actual, isEstimated: true }
}

function sum(amounts: readonly Microcredits[]): Microcredits {
  return amounts.reduce<bigint>((total, amount) => total + amount, ZERO) as Microcredits
}
