import type { ModelSpan } from './reply-members.ts'
import type { SseEvent } from './sse-events.ts'

/**
 * An event with the public model id in place of every `model` that its data has at top level; every other byte as it came.
 * @param modelJson the id as JSON text.
 */
export function spliceModel({ raw, toRaw }: SseEvent, models: readonly ModelSpan[], modelJson: string): string {
  // From the last to the first, so that no place moves before it is used.
  return models.reduceRight((event, { start, end }) => {
    const from = toRaw(start)
    // Not the place of `end`: behind a value that ends with its line, that is on the next one.
    const to = Math.max(from, toRaw(end - 1) + 1)
    return event.slice(from, to) === modelJson ? event : `${event.slice(0, from)}${modelJson}${event.slice(to)}`
  }, raw)
}
