import type { StepInput } from '#core/jobs/next-step.ts'
import { failureTextOf } from '#core/jobs/step-errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { deleteVideo } from '../stores/video-bucket.ts'
import { resolveVideoJob, settlementOf } from './resolve-video-job.ts'
import type { StepContext } from './step-context.ts'

/**
 * Ends a job whose execution cannot go on. A job whose video lies in the bucket already is billed and delivered all the same;
 * any other is released, with the recorded reason or the one that the error's name stands for.
 */
export async function endFailedJob(
  input: StepInput,
  context: StepContext,
  errorName: string | undefined,
): Promise<void> {
  await resolveVideoJob(input, context, async (job, reservation) => {
    if (holdsStoredVideo(job)) {
      return await settlementOf(job, reservation, context)
    }
    await removeUnrecordedVideo(job, context)
    return { kind: 'release', error: job.failure ?? failureTextOf(errorName) }
  })
}

function holdsStoredVideo(job: VideoJob): boolean {
  return job.storedDurationSeconds !== undefined && job.failure === undefined
}

/** A store that died between the upload and its record leaves an object that nobody would ever serve or remove. */
async function removeUnrecordedVideo(job: VideoJob, context: StepContext): Promise<void> {
  if (job.finishedAt !== undefined) {
    await deleteVideo(context.openBucket(), job.videoKey)
  }
}
