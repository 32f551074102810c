import { getVideoJob } from '#adapters/stores/job-reader.ts'
import { loadText } from '#adapters/stores/text-store.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { createdJobBody } from '#core/jobs/video-job-view.ts'
import type { CreateContext } from './create-context.ts'

/** Reads of the job while its submit is on the way: soon at first, then with pauses that grow to the second bound. */
const READ_PAUSE_MILLISECONDS = { first: 40, growth: 1.5, max: 500 }

/**
 * Waits for the recorded submit answer, at most `submit_wait_seconds`, and makes the 201 of it. A job that was refused,
 * waits for a channel or takes longer is answered with the injected members alone: what happens since is for GET to tell.
 */
export async function answerWithSubmit(
  { tenantId, jobId }: { tenantId: string; jobId: string },
  context: CreateContext,
): Promise<string> {
  const giveUpAt = context.nowMilliseconds() + context.catalogue.config.submit_wait_seconds * 1000
  let pauseMilliseconds = READ_PAUSE_MILLISECONDS.first
  for (;;) {
    await context.pause(Math.max(0, Math.min(pauseMilliseconds, giveUpAt - context.nowMilliseconds())))
    const job = await getVideoJob(context.table, tenantId, jobId)
    if (job === undefined) {
      throw new VideoJobNotFoundError()
    }
    if (isAnswerable(job) || context.nowMilliseconds() >= giveUpAt) {
      return createdJobBody(job, await loadText(context.openBucket, job.submitText))
    }
    pauseMilliseconds = Math.min(READ_PAUSE_MILLISECONDS.max, pauseMilliseconds * READ_PAUSE_MILLISECONDS.growth)
  }
}

function isAnswerable(job: VideoJob): boolean {
  return (
    job.isDeleted ||
    job.submitText !== undefined ||
    job.isWaitingForChannel ||
    job.failure !== undefined ||
    isTerminal(job)
  )
}
