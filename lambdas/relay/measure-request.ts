import { measure } from '#adapters/telemetry/measure.ts'
import type { ChatUsage } from '#core/quota/token-usage.ts'

/** What the line of a request, and its numbers, say of the tokens that an upstream reported. */
export function tokensOf({ promptTokens, completionTokens }: ChatUsage) {
  return { inputTokens: promptTokens, outputTokens: completionTokens }
}

/**
 * The numbers of one relayed request, in one line; of one that named no model there are none.
 * @param statusCode of the answer; undefined when the client left before there was one.
 * @param facts what its log line says.
 */
export function measureRequest(statusCode: number | undefined, facts: Readonly<Record<string, unknown>>): void {
  const { model, channelId } = facts
  if (typeof model !== 'string' || statusCode === undefined) {
    return
  }
  const outcome = outcomeOf(statusCode, facts.streamEnd)
  measure(
    {
      [outcome]: 1,
      first_byte_milliseconds: statusCode < 400 ? numberOf(facts.firstByteMilliseconds) : undefined,
      input_tokens: numberOf(facts.inputTokens),
      output_tokens: numberOf(facts.outputTokens),
      billed_credits: numberOf(facts.billedCredits),
    },
    { model, channel: typeof channelId === 'string' ? channelId : 'none' },
  )
}

function outcomeOf(statusCode: number, streamEnd: unknown): 'relay_succeeded' | 'relay_failed' | 'relay_rejected' {
  if (statusCode >= 500 || streamEnd === 'broken') {
    return 'relay_failed'
  }
  return statusCode >= 400 ? 'relay_rejected' : 'relay_succeeded'
}

function numberOf(fact: unknown): number | undefined {
  return typeof fact === 'number' ? fact : undefined
}
