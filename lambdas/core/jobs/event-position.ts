import { JOB_EVENT_TYPES, type JobEvent } from './job-events.ts'

/** The place of an event in the order of all events of its job. */
export type EventPosition = readonly [rank: number, number: number]

/** The place before the first event. */
export const FIRST: EventPosition = [-1, 0]

const ID = /^([a-z]+)(?::(\d{1,9}))?$/

/** Where `progress:100` stands, which follows the settlement. */
const BEFORE_THE_END = JOB_EVENT_TYPES.indexOf('settled') + 0.5

/** Where `settled:1` of a cancelled job stands: behind its first callback, before those that are sent again. */
const LATE_BILL = JOB_EVENT_TYPES.indexOf('callback') + 1
const SENT_AGAIN = LATE_BILL + 1

/** The place of an event by its id, such as a client sends in `Last-Event-ID`; {@link FIRST} for anything else. */
export function positionOf(id: string): EventPosition {
  const [, type, number = '0'] = ID.exec(id) ?? []
  const types: readonly string[] = JOB_EVENT_TYPES
  const rank = types.indexOf(type ?? '')
  if (rank === -1) {
    return FIRST
  }
  return [exceptionOf(type, Number(number)) ?? rank, Number(number)]
}

function exceptionOf(type: string | undefined, number: number): number | undefined {
  switch (type) {
    case 'progress':
      return number >= 100 ? BEFORE_THE_END : undefined
    case 'settled':
      return number >= 1 ? LATE_BILL : undefined
    case 'callback':
      return number > 1 ? SENT_AGAIN : undefined
    default:
      return undefined
  }
}

/** The events behind a place. Every later list of the same job has the same events there, and more. */
export function eventsAfter(events: readonly JobEvent[], position: EventPosition): readonly JobEvent[] {
  return events.filter(({ id }) => isAfter(positionOf(id), position))
}

function isAfter([rank, number]: EventPosition, [otherRank, otherNumber]: EventPosition): boolean {
  return rank === otherRank ? number > otherNumber : rank > otherRank
}
