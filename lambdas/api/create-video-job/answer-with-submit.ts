import { loadTextIfThere } from '#adapters/store/bucket/text-store.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { createdJobBody } from '#core/jobs/video-job-view.ts'
import type { CreateContext } from './create-context.ts'

/** Between reads of the job while its submit is on the way: short at first, growing to the second bound. */
const READ_PAUSE_MILLISECONDS = { first: 40, growth: 1.5, max: 500 }

/** What the first read waited for, the second may wait on by this share: the slower the upstream, the less a moment matters. */
const SECOND_PAUSE_SHARE = 0.25

/**
 * Waits for the recorded submit answer, at most `submit_wait_seconds`, and makes the 201 of it. A job that was refused,
 * waits for a channel or takes longer is answered with the injected members alone: what happens since is for GET to tell.
 */
export async function answerWithSubmit(created: CreatedJob, context: CreateContext): Promise<string> {
  const startedAt = context.nowMilliseconds()
  const firstPause = context.submitRhythm?.firstReadMilliseconds(created.model) ?? READ_PAUSE_MILLISECONDS.first
  const { job, reads } = await readUntilAnswerable(created, context, firstPause)
  if (isAnswerable(job)) {
    const waitedMilliseconds = context.nowMilliseconds() - startedAt
    context.submitRhythm?.learn(created.model, { waitedMilliseconds, reads })
  }
  return await createdBody(job, context)
}

/** The same 201 for a repeated `POST`, whose job may have had its answer for long. */
export async function answerRepeat(existing: VideoJob, context: CreateContext): Promise<string> {
  if (isAnswerable(existing)) {
    return await createdBody(existing, context)
  }
  const { job } = await readUntilAnswerable(existing, context, READ_PAUSE_MILLISECONDS.first)
  return await createdBody(job, context)
}

type CreatedJob = Pick<VideoJob, 'tenantId' | 'jobId' | 'model'>

async function readUntilAnswerable({ tenantId, jobId }: CreatedJob, context: CreateContext, firstPause: number) {
  const giveUpAt = context.nowMilliseconds() + context.catalogue.config.submit_wait_seconds * 1000
  let pauseMilliseconds = firstPause
  for (let reads = 1; ; reads += 1) {
    await context.pause(Math.max(0, Math.min(pauseMilliseconds, giveUpAt - context.nowMilliseconds())))
    const job = await getVideoJob(context.table, tenantId, jobId)
    if (job === undefined) {
      throw new VideoJobNotFoundError()
    }
    if (isAnswerable(job) || context.nowMilliseconds() >= giveUpAt) {
      return { job, reads }
    }
    pauseMilliseconds = pauseAfter(reads, firstPause)
  }
}

function pauseAfter(reads: number, firstPause: number): number {
  const { first, growth, max } = READ_PAUSE_MILLISECONDS
  return Math.min(max, Math.max(first, firstPause * SECOND_PAUSE_SHARE) * growth ** (reads - 1))
}

async function createdBody(job: VideoJob, { openBucket }: CreateContext): Promise<string> {
  return createdJobBody(job, await loadTextIfThere(openBucket, job.submitText))
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
