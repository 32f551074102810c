import { measure } from '#platform/telemetry/measures.ts'

/**
 * Emits the metrics of one relayed request. A request that named no model has none.
 * @param statusCode undefined when the client left before it had a response.
 * @param facts the fields of the request's log line.
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
