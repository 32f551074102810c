import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { ChatModel } from '#core/catalogue/model.ts'
import { inputTokensOf, type TokenCounts } from '#core/quota/token-counts.ts'
import { boundTokenCounts, chatUsageMax } from '#core/quota/usage-bounds.ts'
import { logWord } from '#core/telemetry/log-word.ts'

/** The call that a usage was reported for. */
type ReportedCall = { readonly requestId: string; readonly modelId: string; readonly channelId: string }

/** What was reported, by the names of the log fields. */
type Reported = Readonly<Partial<Record<'promptTokens' | 'completionTokens' | 'images', number>>>

/** Logs and counts a usage above what the model can have used. The bound of the model was billed instead. */
export function reportUsageAboveBound({ requestId, modelId, channelId }: ReportedCall, reported: Reported): void {
  const words = Object.entries(reported).map(([name, value]) => [name, logWord(String(value))])
  logger.error('the upstream reported a usage above the bound of its model', {
    requestId,
    model: modelId,
    channelId,
    ...Object.fromEntries(words),
  })
  count('usage_above_bound', { channel: channelId })
}

type ChatCall = Pick<ReportedCall, 'requestId' | 'channelId'> & {
  readonly model: ChatModel
  /** Completions that this call asked for. */
  readonly choices: number
  /** Tokens of the images of the request, at most. */
  readonly imageTokens?: number
}

/**
 * Limits the usage of one chat call to the bounds of its model. A usage above them, and one whose parts were above their whole, is
 * logged and counted.
 */
export function usageWithinBounds(usage: TokenCounts, call: ChatCall): TokenCounts {
  const { requestId, channelId, model, choices, imageTokens } = call
  const bounded = boundTokenCounts(usage, chatUsageMax(model, choices, imageTokens))
  const reported = { promptTokens: inputTokensOf(usage), completionTokens: usage.output }
  if (bounded !== usage) {
    reportUsageAboveBound({ requestId, channelId, modelId: model.id }, reported)
  }
  if (usage.isCorrected) {
    logger.error('the upstream reported more cached tokens than its prompt has', {
      requestId,
      model: model.id,
      channelId,
      ...reported,
    })
    count('usage_refused', { model: model.id })
  }
  return bounded
}
