import { ServiceUnavailableError } from '#core/errors.ts'
import { eventsAfter, FIRST, isComplete, type JobEvent, jobEvents, positionOf } from '#core/jobs/job-events.ts'
import { isVisible, type VideoJob } from '#core/jobs/video-job.ts'
import { type ApiEvent, headerOf } from '#middleware/api-event.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'

/** The events of a job until now, and whether more are expected. */
export type JobReading = { readonly events: readonly JobEvent[]; readonly isComplete: boolean }

/** What a record tells at a time. */
export function readingOf(job: VideoJob, nowSeconds: number): JobReading {
  return { events: jobEvents(job, nowSeconds), isComplete: isComplete(job, nowSeconds) }
}

/**
 * The job again, at half the price of a strongly consistent read and a moment old. Undefined if it was deleted or its record is too
 * old. The key is not looked at: a stream is short, and the next one needs it.
 */
export async function readFollowedJob(
  table: Pick<Table, 'readItem'>,
  { tenantId, jobId }: VideoJob,
  nowSeconds: number,
): Promise<VideoJob | undefined> {
  const item = await table.readItem(tableKeys.job(tenantId, jobId), { mayLag: true })
  const job = item === undefined ? undefined : readVideoJobItem(item)
  return job !== undefined && isVisible(job, nowSeconds) ? job : undefined
}

/** Between two requests to the table: the most that a stream costs, and the longest that an event is late. */
const PAUSE_MILLISECONDS = 1_000

/** Why a stream ended: nothing more is expected, the client left or may not read on, or the time of the stream was over. */
export type FollowEnd = 'complete' | 'left' | 'removed' | 'time'

/** What following one job takes from outside. */
export type FollowContext = {
  readonly nowMilliseconds: () => number
  /** Resolves early when the client leaves. */
  readonly pause: (milliseconds: number) => Promise<void>
  /** Undefined if the job may not be seen any more. */
  readonly readJob: (nowSeconds: number) => Promise<VideoJob | undefined>
  /** Fires when the client has left. */
  readonly gone: AbortSignal
  /** Resolves when the client can take more. */
  readonly send: (messages: string) => Promise<void>
  /** Unix milliseconds at which the stream ends, whatever the job does. */
  readonly endsAt: number
}

/** Sends the events of a job as they happen, until none is expected. */
export async function followJob(
  first: VideoJob,
  messages: EventMessages,
  context: FollowContext,
): Promise<{ readonly end: FollowEnd; readonly readings: number }> {
  let job: VideoJob | undefined = first
  for (let readings = 0; ; readings += 1) {
    if (job === undefined) {
      return { end: 'removed', readings }
    }
    const reading = readingOf(job, context.nowMilliseconds() / 1000)
    await context.send(messages.next(reading.events))
    if (context.gone.aborted) {
      return { end: 'left', readings }
    }
    if (reading.isComplete) {
      return { end: 'complete', readings }
    }
    if (context.nowMilliseconds() + PAUSE_MILLISECONDS >= context.endsAt) {
      return { end: 'time', readings }
    }
    await context.pause(PAUSE_MILLISECONDS)
    if (context.gone.aborted) {
      return { end: 'left', readings }
    }
    job = await readAgain(job, context)
  }
}

/** A table that is out of reach for a while makes events late, and ends no stream. */
async function readAgain(job: VideoJob, { readJob, nowMilliseconds }: FollowContext): Promise<VideoJob | undefined> {
  try {
    return await readJob(nowMilliseconds() / 1000)
  } catch (error) {
    if (error instanceof ServiceUnavailableError) {
      return job
    }
    throw error
  }
}

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
