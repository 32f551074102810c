/** Something that happened to a job. */
export type TimelineEntry = {
  /** Unix milliseconds. */
  readonly at: number
  readonly event: string
  /** The execution that it happened in, where Step Functions tells of it. */
  readonly execution?: string
  /** Of what the record keeps in whole seconds: the step that did it. `at` is the earliest that it can have been. */
  readonly doneBy?: 'Submit' | 'Poll'
}

/**
 * In the order of their times. What is known to the second only comes behind the beginning of its step, or of its execution
 * where the steps are not known, when that lies in the same second.
 */
export function orderTimeline(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  return entries
    .map((entry) => ({ entry, at: earliest(entry, entries) }))
    .toSorted((left, right) => left.at - right.at || Number(isToSecond(left.entry)) - Number(isToSecond(right.entry)))
    .map(({ entry }) => entry)
}

/** ISO 8601 in UTC, with milliseconds where they are known. */
export function timeText(entry: TimelineEntry): string {
  const text = new Date(entry.at).toISOString()
  return isToSecond(entry) ? text.replace(/\.\d+/, '') : text
}

function isToSecond({ doneBy }: TimelineEntry): boolean {
  return doneBy !== undefined
}

function earliest(entry: TimelineEntry, entries: readonly TimelineEntry[]): number {
  const { at, doneBy } = entry
  if (doneBy === undefined) {
    return at
  }
  const second = Math.trunc(at / 1000)
  const before = entries.filter((other) => !isToSecond(other) && Math.trunc(other.at / 1000) === second)
  const reserved = before.find(({ event }) => event.startsWith('reserved'))
  const step =
    before.find(({ event }) => event.startsWith(doneBy)) ?? before.find(({ event }) => event === EXECUTION_STARTED)
  return Math.max(at, reserved?.at ?? at, step?.at ?? at)
}

/** The first entry of each execution. */
export const EXECUTION_STARTED = 'execution started'
