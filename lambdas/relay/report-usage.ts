import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { ChatModel } from '#core/catalogue/model.ts'
import type { ChatUsage } from '#core/quota/token-usage.ts'
import { boundChatUsage, chatUsageMax } from '#core/quota/usage-bounds.ts'
import { logWord } from '#core/telemetry/log-word.ts'

/** Which call a usage was reported for. */
type ReportedCall = { readonly requestId: string; readonly modelId: string; readonly channelId: string }

/** What was reported, by the name that its log line has for it. */
type Reported = Readonly<Partial<Record<'promptTokens' | 'completionTokens' | 'images', number>>>

/** Says that an upstream reported more than its model can have used; what the model can use was billed. */
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
}

/** The usage of one chat call within the bounds of its model. What was above them is counted and logged. */
export function usageWithinBounds(usage: ChatUsage, { requestId, channelId, model, choices }: ChatCall): ChatUsage {
  const bounded = boundChatUsage(usage, chatUsageMax(model, choices))
  if (bounded !== usage) {
    reportUsageAboveBound({ requestId, channelId, modelId: model.id }, usage)
  }
  return bounded
}
