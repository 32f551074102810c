import type { ModelSpan } from './reply-members.ts'
import type { SseEvent } from './sse-events.ts'

/**
 * Replaces every top-level `model` in the data of an event with the public model id. Every other byte stays.
 * @param modelJson the id as JSON.
 */
export function spliceModel({ raw, toRaw }: SseEvent, models: readonly ModelSpan[], modelJson: string): string {
  // From the last to the first, so that no offset moves before it is used.
  return models.reduceRight((event, { start, end }) => {
    const from = toRaw(start)
    // Not the place of `end`: behind a value that ends with its line, that is on the next one.
    const to = Math.max(from, toRaw(end - 1) + 1)
    return event.slice(from, to) === modelJson ? event : `${event.slice(0, from)}${modelJson}${event.slice(to)}`
  }, raw)
}
