import { deleteObject } from '#adapters/store/bucket/video-bucket.ts'
import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { FAILURE_TEXT } from '#core/jobs/failure-text.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import { failureTextOf } from '#core/jobs/step-errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { resolveVideoJob, settlementOf } from './resolve-video-job.ts'
import type { StepContext } from './step-context.ts'

/**
 * Ends a job whose execution cannot go on. A job whose video lies in the bucket already is billed and delivered all the same,
 * and a deleted one whose upstream has finished is billed; any other is released, with the recorded reason or the one that
 * the error's name stands for.
 */
export async function endFailedJob(
  input: StepInput,
  context: StepContext,
  errorName: string | undefined,
): Promise<void> {
  const ended = await resolveVideoJob(input, context, async (job, reservation) => {
    if (isBilled(job)) {
      return await settlementOf(job, reservation, context)
    }
    const error = job.failure ?? failureTextOf(errorName)
    if (error === FAILURE_TEXT.internal) {
      logger.error('job failed by an error that no step means to throw', { ...jobFacts(job), errorName })
      count('internal_failure')
      return { kind: 'release', error, cause: `a step threw ${errorName ?? 'an error without a name'}` }
    }
    return { kind: 'release', error }
  })
  await removeUnrecordedVideo(ended, context)
}

/** A deleted job's video is never stored: that the upstream finished is all there is to bill. */
function isBilled(job: VideoJob): boolean {
  const isDone = job.isDeleted ? job.finishedAt !== undefined : job.storedDurationSeconds !== undefined
  return isDone && job.failure === undefined
}

/**
 * A store that died between the upload and its record leaves an object that nobody would ever serve or remove. Looked at
 * after the commit: a settlement that came first has promised the object to the client.
 */
async function removeUnrecordedVideo(job: VideoJob, context: StepContext): Promise<void> {
  if (job.status === 'failed' && job.finishedAt !== undefined) {
    await deleteObject(await context.openBucket(), job.videoKey)
  }
}
