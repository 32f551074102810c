import { createdJobBody } from '#core/api/video-job-view.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { isTerminal, isUnwanted, type VideoJob } from '#core/jobs/video-job.ts'
import { loadTextIfThere } from '#store/bucket/bucket.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { CreateContext } from './create-context.ts'

/** What a wait takes from outside: a job that exists does not depend on switches. */
type WaitContext = Omit<CreateContext, 'currentCatalogue'>

/** Pauses between reads of the job during its submit: each is `growth` times as long as the one before. */
const READ_PAUSE_MILLISECONDS = { first: 40, growth: 1.5, max: 500 }

/** The second pause as a share of the first: the slower the upstream, the less a short delay matters. */
const SECOND_PAUSE_SHARE = 0.25

/**
 * Waits for the recorded reply to the submit, at most `submit_wait_seconds`, and returns the body of the 201 with it. The
 * body has the injected fields alone when the job was refused, waits for a channel or takes longer: GET shows the rest.
 */
export async function submitResponse(created: CreatedJob, context: WaitContext): Promise<string> {
  const startedAt = context.nowMilliseconds()
  const firstPause = context.submitRhythm?.firstReadMilliseconds(created.model) ?? READ_PAUSE_MILLISECONDS.first
  const { job, reads } = await readUntilReady(created, context, firstPause)
  if (isReady(job)) {
    const waitedMilliseconds = context.nowMilliseconds() - startedAt
    context.submitRhythm?.learn(created.model, { waitedMilliseconds, reads })
  }
  return await createdBody(job, context)
}

/** The same body for a repeated `POST`, whose job may have had its reply for a long time. */
export async function repeatedResponse(existing: VideoJob, context: WaitContext): Promise<string> {
  if (isReady(existing)) {
    return await createdBody(existing, context)
  }
  const { job } = await readUntilReady(existing, context, READ_PAUSE_MILLISECONDS.first)
  return await createdBody(job, context)
}

type CreatedJob = Pick<VideoJob, 'tenantId' | 'jobId' | 'model'>

async function readUntilReady({ tenantId, jobId }: CreatedJob, context: WaitContext, firstPause: number) {
  const giveUpAt = context.nowMilliseconds() + context.catalogue.config.submit_wait_seconds * 1000
  let pauseMilliseconds = firstPause
  for (let reads = 1; ; reads += 1) {
    await context.pause(Math.max(0, Math.min(pauseMilliseconds, giveUpAt - context.nowMilliseconds())))
    const job = await getVideoJob(context.table, tenantId, jobId)
    if (job === undefined) {
      throw new VideoJobNotFoundError()
    }
    if (isReady(job) || context.nowMilliseconds() >= giveUpAt) {
      return { job, reads }
    }
    pauseMilliseconds = pauseAfter(reads, firstPause)
  }
}

function pauseAfter(reads: number, firstPause: number): number {
  const { first, growth, max } = READ_PAUSE_MILLISECONDS
  return Math.min(max, Math.max(first, firstPause * SECOND_PAUSE_SHARE) * growth ** (reads - 1))
}

async function createdBody(job: VideoJob, { openBucket }: WaitContext): Promise<string> {
  return createdJobBody(job, await loadTextIfThere(openBucket, job.submitText))
}

function isReady(job: VideoJob): boolean {
  return (
    isUnwanted(job) ||
    job.submitText !== undefined ||
    job.isWaitingForChannel ||
    job.failure !== undefined ||
    isTerminal(job)
  )
}
