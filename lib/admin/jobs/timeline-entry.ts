/** An event of a job. */
export type TimelineEntry = {
  /** Unix milliseconds. */
  readonly at: number
  readonly event: string
  /** The execution of the event, if the event comes from Step Functions. */
  readonly execution?: string
  /** The step of an event whose time is in whole seconds; `at` is the earliest possible time. */
  readonly doneBy?: 'Submit' | 'Poll'
}

/**
 * Sorts entries by time. An entry in whole seconds comes after the start of its step in the same second, or after the start of its
 * execution if the steps are unknown.
 */
export function orderTimeline(entries: readonly TimelineEntry[]): readonly TimelineEntry[] {
  return entries
    .map((entry) => ({ entry, at: earliest(entry, entries) }))
    .toSorted((left, right) => left.at - right.at || Number(isToSecond(left.entry)) - Number(isToSecond(right.entry)))
    .map(({ entry }) => entry)
}

/** ISO 8601 in UTC, with milliseconds if they are known. */
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
