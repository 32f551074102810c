import { inOrder, type TextEdit } from '../json/text-edit.ts'
import type { SseEvent } from './sse-events.ts'

/** Applies edits of the data of an event to its bytes. They do not overlap, and every other byte stays. */
export function editEvent({ raw, toRaw }: SseEvent, edits: readonly TextEdit[]): string {
  if (edits.length === 0) {
    return raw
  }
  // Not the place of an `end`: behind a value that ends with its line, that is on the next one.
  const after = (end: number) => toRaw(end - 1) + 1
  let edited = ''
  let keptFrom = 0
  for (const { start, end, replacement } of inOrder(edits)) {
    const from = Math.max(keptFrom, start === end ? after(start) : toRaw(start))
    edited += raw.slice(keptFrom, from) + replacement
    keptFrom = Math.max(from, start === end ? from : after(end))
  }
  return edited + raw.slice(keptFrom)
}
