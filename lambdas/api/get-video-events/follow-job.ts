import { ServiceUnavailableError } from '#core/errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import type { EventMessages } from './event-messages.ts'
import { readingOf } from './job-reading.ts'

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
