import type { ChatModel } from '../catalogue/model.ts'
import { ZERO } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import { type ChatBounds, chatPicocredits, chatPicocreditsMax, countsMax, roundedCost } from './chat-cost.ts'
import type { Charge } from './counted-usage.ts'
import { countedTokens, sumOfTokenCounts, type TokenCounts, tokenCounts } from './token-counts.ts'

/** Bounds of one prompt. */
export type PromptBounds = ChatBounds & {
  /** Most chat calls of the prompt: an upstream may return fewer completions than requested. */
  readonly callsMax: number
  /** Bytes of the chat call in UTF-8. */
  readonly bodyBytes: number
}

/** How the completions of one prompt ended. */
export type PromptEnd =
  /** No upstream was called. */
  | { readonly kind: 'unsent' }
  /** All completions arrived. */
  | { readonly kind: 'whole'; readonly usage: TokenCounts | undefined }
  /** Completions are missing: each call is billed by how it ended. */
  | { readonly kind: 'partial'; readonly calls: readonly CallEnd[] }

/** How one of the calls for a prompt ended. */
export type CallEnd = {
  /**
   * `ended`: with completions. `broken`: a stream failed, or was given up because another prompt failed. `abandoned`: a stream
   * was not read to its end because the client had left. `unread`: a whole reply did not arrive for the same reason. `cut`: a
   * reply was larger than the gateway holds.
   */
  readonly kind: 'ended' | 'broken' | 'abandoned' | 'unread' | 'cut'
  readonly usage: TokenCounts | undefined
  /** Bytes of the generated text that arrived, in UTF-8. */
  readonly textBytes: number
}

/** What to reserve before a completion: the bounds of its prompts, which have separate chat calls. */
export function completionChargeMax(model: ChatModel, prompts: readonly PromptBounds[]): Charge {
  return rounded(
    model,
    prompts.map((bounds) => promptCostMax(model, bounds)),
  )
}

/** A usage, and its exact cost in millionths of a microcredit. */
type Cost = { readonly counts: TokenCounts; readonly picocredits: bigint }

/** Each call bills the prompt; all calls together bill the completions once. */
function promptCostMax(model: ChatModel, { promptTokensMax, callsMax, ...rest }: PromptBounds): Cost {
  const bounds = { ...rest, promptTokensMax: promptTokensMax * callsMax }
  return { counts: countsMax(bounds), picocredits: chatPicocreditsMax(model, bounds) }
}

/**
 * What is billed for a legacy completion: the sum of the reported usage, rounded once. A prompt without reported usage costs its
 * share of the reservation. A prompt with missing completions costs the usage of each call, or an estimate from the text that
 * arrived.
 * @returns also whether any prompt was billed without reported usage.
 */
export function completionCharge(
  model: ChatModel,
  prompts: readonly { readonly bounds: PromptBounds; readonly end: PromptEnd }[],
): Charge & { readonly isEstimated: boolean } {
  const costs = prompts.flatMap(({ bounds, end }) => promptCost(model, bounds, end) ?? [])
  return { ...rounded(model, costs), isEstimated: costs.some(({ isEstimated }) => isEstimated) }
}

function rounded(model: ChatModel, costs: readonly Cost[]): Charge {
  const picocredits = costs.reduce((sum, cost) => sum + cost.picocredits, 0n)
  return {
    amount: costs.length === 0 ? ZERO : roundedCost(model, picocredits),
    usage: countedTokens(sumOfTokenCounts(costs.map(({ counts }) => counts))),
  }
}

type PromptCost = Cost & { readonly isEstimated: boolean }

/** Undefined for a prompt that is free. */
function promptCost(model: ChatModel, bounds: PromptBounds, end: PromptEnd): PromptCost | undefined {
  switch (end.kind) {
    case 'unsent':
      return undefined
    case 'partial':
      return partialCost(model, bounds, end.calls)
    case 'whole':
      return end.usage === undefined
        ? { ...promptCostMax(model, bounds), isEstimated: true }
        : { ...costOf(model, end.usage), isEstimated: false }
    default:
      return end satisfies never
  }
}

/** Adds up the reported usage and the estimates for the other calls. */
function partialCost(model: ChatModel, bounds: PromptBounds, calls: readonly CallEnd[]): PromptCost | undefined {
  const billed = calls.filter(isBilled)
  if (billed.length === 0) {
    return undefined
  }
  const input = Math.min(bounds.promptTokensMax, tokensByLength(bounds.bodyBytes))
  const usages = billed.map(
    ({ usage, textBytes }) => usage ?? tokenCounts({ input, output: tokensByLength(textBytes) }),
  )
  const used = costOf(model, sumOfTokenCounts(usages))
  if (billed.every(({ usage }) => usage !== undefined)) {
    return { ...used, isEstimated: false }
  }
  const locked = promptCostMax(model, bounds)
  const reported = costOf(model, sumOfTokenCounts(billed.flatMap(({ usage }) => usage ?? [])))
  const most = locked.picocredits > reported.picocredits ? locked : reported
  const isUnread = billed.some(({ kind, usage }) => (kind === 'unread' || kind === 'cut') && usage === undefined)
  return { ...(isUnread || used.picocredits > most.picocredits ? most : used), isEstimated: true }
}

function costOf(model: ChatModel, counts: TokenCounts): Cost {
  return { counts, picocredits: chatPicocredits(model, counts) }
}

/** A call that failed before any text arrived is not billed. */
function isBilled({ kind, usage, textBytes }: CallEnd): boolean {
  return kind !== 'broken' || usage !== undefined || textBytes > 0
}
