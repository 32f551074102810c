import {
  FAILURE_TEXT,
  failureTextOf,
  isUnwanted,
  type NextStep,
  type StepInput,
  type VideoJob,
  visibleError,
} from '#core/jobs/video-job.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { deleteObject } from '#store/bucket/bucket.ts'
import { resolveVideoJob } from './resolve-video-job.ts'
import { settlementOf } from './settle-video-job.ts'
import type { StepContext } from './step-context.ts'

/** Ends a job that a step has failed, or whose step was broken by an error. */
export async function failVideoJob(input: StepInput, context: StepContext): Promise<NextStep> {
  const { tenantId, jobId, failure, next } = input
  await endFailedJob({ tenantId, jobId }, context, failure?.Error ?? next?.error)
  return { step: 'done' }
}

/**
 * Ends a job whose execution cannot go on. A job whose video is already in the bucket is billed and delivered, and a
 * deleted job whose upstream has finished is billed. Any other job is released, with the recorded reason or else the text
 * of the error's name.
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
    if (job.cancelledAt !== undefined) {
      const error = visibleError(job)
      const isOwn = job.failure === undefined || job.failure === error
      return isOwn ? { kind: 'release', error } : { kind: 'release', error, cause: job.failure }
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

/** The video of a deleted or cancelled job is not kept, so the upstream's success alone decides. */
function isBilled(job: VideoJob): boolean {
  const isDone = isUnwanted(job) ? job.finishedAt !== undefined : job.storedDurationSeconds !== undefined
  return isDone && job.failure === undefined
}

/**
 * Deletes the object that a Store left when it died between the upload and its record. This comes after the commit,
 * because a settlement that came first has promised the object to the client.
 */
async function removeUnrecordedVideo(job: VideoJob, context: StepContext): Promise<void> {
  if (job.status === 'failed' && job.finishedAt !== undefined) {
    await deleteObject(await context.openBucket(), job.videoKey)
  }
}
