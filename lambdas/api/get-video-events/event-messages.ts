import { eventsAfter, FIRST, type JobEvent, positionOf } from '#core/jobs/job-events.ts'
import { type ApiEvent, headerOf } from '#middleware/api-event.ts'

/** Whether a request prefers a stream of events to a list. */
export function prefersEventStream(event: Pick<ApiEvent, 'headers'>): boolean {
  return /(^|,)\s*text\/event-stream\s*(;|,|$)/i.test(headerOf(event, 'accept') ?? '')
}

/** The events of a job that a client does not have yet, as the messages of a stream; each event is told once. */
export class EventMessages {
  #position = FIRST

  /** @param lastEventId the last event that the client has; undefined, or unknown, for none. */
  constructor(lastEventId: string | undefined) {
    this.#position = positionOf(lastEventId?.trim() ?? '')
  }

  /** The messages for what is new in a list; an empty string if nothing is. */
  next(events: readonly JobEvent[]): string {
    const fresh = eventsAfter(events, this.#position)
    const last = fresh.at(-1)
    if (last !== undefined) {
      this.#position = positionOf(last.id)
    }
    return fresh.map(messageOf).join('')
  }
}

function messageOf(event: JobEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}
