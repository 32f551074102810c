import {
  FAILURE_TEXT,
  failureTextOf,
  isTerminal,
  isUnwanted,
  type NextStep,
  type StepInput,
  type VideoJob,
  visibleError,
} from '#core/jobs/video-job.ts'
import { type Settlement, settleVideoCost } from '#core/pricing/video-settlement.ts'
import type { VideoResult } from '#core/providers/video-provider.ts'
import { logWord } from '#core/redaction.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count, creditsForGraphs, measure } from '#platform/telemetry/measures.ts'
import { deleteObject } from '#store/bucket/bucket.ts'
import { deleteResolvedRequest, getReservation, type Reservation } from '#store/job-ledger/reservation.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { countFailedJob } from '#store/jobs/failed-jobs.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import { cleanUpDeletedJob } from './delete-video-job.ts'
import {
  JobRecordMissingError,
  ofChannel,
  readStoredResult,
  requireVideoJob,
  type StepContext,
} from './step-context.ts'

/** How often a job may change between the read and the write before the step throws and is retried. */
const TRIES_MAX = 5

/** The part of the context that ends a job. */
export type ResolveContext = Pick<StepContext, 'table' | 'openBucket' | 'nowMilliseconds'>

type Decide = (job: VideoJob, reservation: Reservation) => Promise<Resolution> | Resolution

/**
 * Ends a job exactly once, as `decide` resolves its current state, and deletes the objects that are no longer needed: its
 * request in the bucket, and everything of a deleted job. Deletions that fail are left to Reconcile. A job that has already
 * ended is not changed.
 * @returns the job as it ended.
 * @throws StoreRefusal `changed_meanwhile` when the job kept changing; ServiceUnavailableError when the table stayed contended.
 */
export async function resolveVideoJob(input: StepInput, context: ResolveContext, decide: Decide): Promise<VideoJob> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const job = await requireVideoJob(context.table, input)
    if (isTerminal(job)) {
      return await cleanUpIfUnwanted(job, context)
    }
    const reservation = await getReservation(context.table, job.tenantId, job.jobId)
    if (reservation === undefined) {
      throw new JobRecordMissingError(`no reservation of job ${job.jobId}`)
    }
    try {
      const resolution = await decide(job, reservation)
      const outcome = await resolveReservation(context.table, {
        job,
        reservation,
        resolution,
        nowMilliseconds: context.nowMilliseconds(),
      })
      report(outcome, job, resolution)
      measureEnd(outcome, { job, resolution }, context)
      await countIfFailed(outcome, { job, resolution }, context)
      await orLeaveToReconcile(job, () => deleteResolvedRequest(context, job, reservation.request))
      return await cleanUpIfUnwanted(await requireVideoJob(context.table, input), context)
    } catch (error) {
      if (!isRefusal(error, 'changed_meanwhile')) {
        throw error
      }
    }
  }
  throw new StoreRefusal('changed_meanwhile', `job ${input.jobId} kept changing`)
}

/** The job was read after the commit, so the later of the commit and the mark sees the other. */
async function cleanUpIfUnwanted(job: VideoJob, context: ResolveContext): Promise<VideoJob> {
  if (isUnwanted(job)) {
    await orLeaveToReconcile(job, () => cleanUpDeletedJob(context, job))
  }
  return job
}

/** The job has ended, so a failed deletion must not fail the step. The index still has what is left. */
async function orLeaveToReconcile(job: VideoJob, cleanUp: () => Promise<void>): Promise<void> {
  try {
    await cleanUp()
  } catch (error) {
    logger.warn('clean-up left to reconcile', { ...jobFacts(job), error: asError(error) })
  }
}

function report(outcome: Outcome, job: VideoJob, resolution: Resolution): void {
  logger.info('job resolved', { ...jobFacts(job), resolution: resolution.kind, outcome })
  if (outcome === 'conflict') {
    logger.error('the reservation was resolved differently before; the first resolution stands', jobFacts(job))
    count('resolution_conflict')
  }
}

type Outcome = 'resolved' | 'already_resolved' | 'conflict'
type End = { readonly job: VideoJob; readonly resolution: Resolution }

/** Counts an end once: a second resolution finds the first. */
function measureEnd(outcome: Outcome, { job, resolution }: End, context: ResolveContext): void {
  if (outcome !== 'resolved') {
    return
  }
  const about = { model: job.model, ...ofChannel(job) }
  if (resolution.kind === 'release') {
    measure({ jobs_failed: 1 }, about)
  } else {
    const seconds = Math.max(0, context.nowMilliseconds() / 1000 - job.createdAt)
    measure({ jobs_succeeded: 1, job_seconds: seconds, billed_credits: creditsForGraphs(resolution.actual) }, about)
  }
}

/** The console lists tenants whose jobs fail. What a client or an operator ended has not failed. */
async function countIfFailed(outcome: Outcome, { job, resolution }: End, context: ResolveContext): Promise<void> {
  const hasFailed = resolution.kind === 'release' && resolution.audit === undefined && !isUnwanted(job)
  if (outcome !== 'resolved' || !hasFailed) {
    return
  }
  try {
    await countFailedJob(context.table, job, context.nowMilliseconds())
  } catch (error) {
    logger.warn('failed job not counted', { ...jobFacts(job), error: asError(error) })
  }
}

/** Bills a finished job and ends it, in one transaction. */
export async function settleVideoJob({ tenantId, jobId }: StepInput, context: StepContext): Promise<NextStep> {
  await resolveVideoJob({ tenantId, jobId }, context, (job, reservation) => settlementOf(job, reservation, context))
  return { step: 'done' }
}

/** What a finished job costs, by the prices frozen on its reservation and the usage that the upstream reports. */
export async function settlementOf(job: VideoJob, reservation: Reservation, context: StepContext): Promise<Resolution> {
  const result = (await readStoredResult(job, context)) ?? {}
  const durationSeconds = result.outputSeconds ?? (job.storedDurationSeconds || undefined)
  const settlement = settleVideoCost({
    estimate: reservation.amount,
    snapshot: reservation.snapshot,
    requested: reservation.tier,
    result,
    durationSeconds,
  })
  reportSettlement(settlement, job, result)
  const isBelieved = !(settlement.usageRefused || settlement.usageAboveBound)
  if (isBelieved && result.completionTokens !== undefined) {
    measure({ output_tokens: Number(result.completionTokens) }, { model: job.model, ...ofChannel(job) })
  }
  return {
    kind: 'settle',
    actual: settlement.amount,
    durationSeconds,
    usage: settlement.usage,
    line: settlement.line,
    estimated: settlement.billedAtEstimate,
  }
}

function reportSettlement(settlement: Settlement, job: VideoJob, reported: VideoResult): void {
  const about = { model: job.model }
  if (settlement.billedAtEstimate) {
    count('billed_at_estimate', about)
  }
  if (settlement.usageRefused) {
    logger.error('the upstream reported a usage that cannot be and was not billed by it', {
      ...jobFacts(job),
      ...usageFacts(reported),
    })
    count('usage_refused', about)
  }
  if (settlement.usageAboveBound) {
    logger.error('the upstream reported a usage above the bound of its model', {
      ...jobFacts(job),
      model: job.model,
      ...usageFacts(reported),
    })
    count('usage_above_bound', ofChannel(job))
  }
  if (settlement.overdraft > 0n) {
    logger.error('the job cost more than its reservation', {
      ...jobFacts(job),
      overdraft: settlement.overdraft.toString(),
    })
    count('overdraft', about)
  }
}

/** The reported numbers that can decide a bill: an operator needs them to judge a usage that was refused. */
function usageFacts({ completionTokens, billableSeconds, outputSeconds }: VideoResult) {
  const reported = Object.entries({ completionTokens, billableSeconds, outputSeconds })
  return Object.fromEntries(reported.flatMap(([name, text]) => (text === undefined ? [] : [[name, logWord(text)]])))
}

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
