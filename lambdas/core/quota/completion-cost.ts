import type { ChatModel } from '../catalogue/model.ts'
import { ZERO } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import { type ChatBounds, chatPicocredits, chatPicocreditsMax, countsMax, roundedCost } from './chat-cost.ts'
import type { Charge } from './counted-usage.ts'
import { countedTokens, sumOfTokenCounts, type TokenCounts, tokenCounts } from './token-counts.ts'

/** Bounds of the one chat call of a prompt. */
export type PromptBounds = ChatBounds & {
  /** Bytes of the call in UTF-8. */
  readonly bodyBytes: number
}

/** How the chat call of a prompt ended. A prompt that was never sent has no end. */
export type PromptEnd = {
  /**
   * `whole`: the reply is complete. `broken`: a stream failed. `abandoned`: a stream was not read to its end because the
   * client had left. `unread`: a whole reply did not arrive for the same reason. `cut`: a reply was larger than what the
   * gateway holds.
   */
  readonly kind: 'whole' | 'broken' | 'abandoned' | 'unread' | 'cut'
  /** What the upstream reported, within the bounds of the model. */
  readonly usage: TokenCounts | undefined
  /** Bytes of the generated text of a stream, in UTF-8. */
  readonly textBytes: number
}

/** What to reserve before a completion: the bounds of its prompts together. */
export function completionChargeMax(model: ChatModel, prompts: readonly PromptBounds[]): Charge {
  return rounded(
    model,
    prompts.map((bounds) => costMax(model, bounds)),
  )
}

/**
 * What is billed for a legacy completion: the sum over its prompts, rounded once. A prompt costs the usage that its upstream
 * reported. Without one, the text of a stream that did not end well is counted by its length, and any other prompt costs its
 * share of the reservation. A stream that broke off before any text is free.
 * @param ends of the prompts that were sent, in the order of `prompts`.
 * @returns also whether any prompt was billed without reported usage.
 */
export function completionCharge(
  model: ChatModel,
  prompts: readonly PromptBounds[],
  ends: readonly PromptEnd[],
): Charge & { readonly isEstimated: boolean } {
  const billed = prompts.flatMap((bounds, index) => {
    const end = ends[index]
    return end === undefined || isFree(end) ? [] : [{ bounds, end }]
  })
  const costs = billed.map(({ bounds, end }) => promptCost(model, bounds, end))
  return { ...rounded(model, costs), isEstimated: billed.some(({ end }) => end.usage === undefined) }
}

/** A usage, and its exact cost in millionths of a microcredit. */
type Cost = { readonly counts: TokenCounts; readonly picocredits: bigint }

function isFree({ kind, usage, textBytes }: PromptEnd): boolean {
  return kind === 'broken' && usage === undefined && textBytes === 0
}

function promptCost(model: ChatModel, bounds: PromptBounds, { kind, usage, textBytes }: PromptEnd): Cost {
  if (usage !== undefined) {
    return costOf(model, usage)
  }
  const most = costMax(model, bounds)
  if (kind !== 'broken' && kind !== 'abandoned') {
    return most
  }
  const input = Math.min(bounds.promptTokensMax, tokensByLength(bounds.bodyBytes))
  const generated = costOf(model, tokenCounts({ input, output: tokensByLength(textBytes) }))
  return generated.picocredits < most.picocredits ? generated : most
}

function costMax(model: ChatModel, bounds: PromptBounds): Cost {
  return { counts: countsMax(bounds), picocredits: chatPicocreditsMax(model, bounds) }
}

function costOf(model: ChatModel, counts: TokenCounts): Cost {
  return { counts, picocredits: chatPicocredits(model, counts) }
}

function rounded(model: ChatModel, costs: readonly Cost[]): Charge {
  const picocredits = costs.reduce((sum, cost) => sum + cost.picocredits, 0n)
  return {
    amount: costs.length === 0 ? ZERO : roundedCost(model, picocredits),
    usage: countedTokens(sumOfTokenCounts(costs.map(({ counts }) => counts))),
  }
}
