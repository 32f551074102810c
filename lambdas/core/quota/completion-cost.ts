import type { ChatModel } from '../catalogue/model.ts'
import { type Microcredits, ZERO } from '../money/money.ts'
import { tokensByLength } from '../parameters/tokens-by-length.ts'
import { type ChatBounds, chatCharge, chatChargeMax } from './chat-cost.ts'
import { type Charge, countedUsage, sumOfCountedUsages } from './counted-usage.ts'
import type { ChatUsage } from './token-usage.ts'

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
  | { readonly kind: 'whole'; readonly usage: ChatUsage | undefined }
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
  readonly usage: ChatUsage | undefined
  /** Bytes of the generated text that arrived, in UTF-8. */
  readonly textBytes: number
}

/** What to reserve before a completion: the sum of the bounds of its prompts, which have separate chat calls. */
export function completionChargeMax(model: ChatModel, prompts: readonly PromptBounds[]): Charge {
  return sum(prompts.map((bounds) => promptChargeMax(model, bounds)))
}

/** Each call bills the prompt; all calls together bill the completions once. */
function promptChargeMax(model: ChatModel, { promptTokensMax, callsMax, ...bounds }: PromptBounds): Charge {
  return chatChargeMax(model, { ...bounds, promptTokensMax: promptTokensMax * callsMax })
}

/**
 * What is billed for a legacy completion: the sum of the reported usage. A prompt without reported usage costs its share of the
 * reservation. A prompt with missing completions costs the usage of each call, or an estimate from the text that arrived.
 * @returns also whether any prompt was billed without reported usage.
 */
export function completionCharge(
  model: ChatModel,
  prompts: readonly { readonly bounds: PromptBounds; readonly end: PromptEnd }[],
): CompletionCharge {
  const charges = prompts.map(({ bounds, end }) => promptCharge(model, bounds, end))
  return { ...sum(charges), isEstimated: charges.some(({ isEstimated }) => isEstimated) }
}

type CompletionCharge = Charge & { readonly isEstimated: boolean }

const FREE: CompletionCharge = { amount: ZERO, usage: countedUsage({}), isEstimated: false }

function promptCharge(model: ChatModel, bounds: PromptBounds, end: PromptEnd): CompletionCharge {
  if (end.kind === 'unsent') {
    return FREE
  }
  if (end.kind === 'partial') {
    return partialCharge(model, bounds, end.calls)
  }
  if (end.usage !== undefined) {
    return { ...chatCharge(model, end.usage), isEstimated: false }
  }
  return { ...promptChargeMax(model, bounds), isEstimated: true }
}

/** Adds up the reported usage and the estimates for the other calls, and rounds once. */
function partialCharge(model: ChatModel, bounds: PromptBounds, calls: readonly CallEnd[]): CompletionCharge {
  const billed = calls.filter(isBilled)
  if (billed.length === 0) {
    return FREE
  }
  const promptTokens = Math.min(bounds.promptTokensMax, tokensByLength(bounds.bodyBytes))
  const usages = billed.map(
    ({ usage, textBytes }) => usage ?? { promptTokens, completionTokens: tokensByLength(textBytes) },
  )
  const used = chatCharge(model, sumOf(usages))
  if (billed.every(({ usage }) => usage !== undefined)) {
    return { ...used, isEstimated: false }
  }
  const locked = promptChargeMax(model, bounds)
  const reported = sumOf(billed.flatMap(({ usage }) => usage ?? []))
  const most = larger(locked, chatCharge(model, reported))
  const isUnread = billed.some(({ kind, usage }) => (kind === 'unread' || kind === 'cut') && usage === undefined)
  return { ...(isUnread || used.amount > most.amount ? most : used), isEstimated: true }
}

/** A call that failed before any text arrived is not billed. */
function isBilled({ kind, usage, textBytes }: CallEnd): boolean {
  return kind !== 'broken' || usage !== undefined || textBytes > 0
}

function sumOf(usages: readonly ChatUsage[]): ChatUsage {
  return {
    promptTokens: usages.reduce((tokens, usage) => tokens + usage.promptTokens, 0),
    completionTokens: usages.reduce((tokens, usage) => tokens + usage.completionTokens, 0),
  }
}

function larger(one: Charge, other: Charge): Charge {
  return one.amount > other.amount ? one : other
}

function sum(charges: readonly Charge[]): Charge {
  return {
    amount: charges.reduce<bigint>((total, { amount }) => total + amount, ZERO) as Microcredits,
    usage: sumOfCountedUsages(charges.map(({ usage }) => usage)),
  }
}
