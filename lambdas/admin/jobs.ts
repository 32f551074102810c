import { FAILURE_TEXT, isCancelledByOperator, isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { type ResolveContext, resolveVideoJob } from '#lambdas/pipeline/resolve-video-job.ts'
import { describeVideoExecution, executionName, startVideoExecution } from '#platform/aws/video-executions.ts'
import { type Actor, auditEntry } from '#store/audit/audit-entry.ts'
import { deleteObject } from '#store/bucket/bucket.ts'
import { postponedReservation } from '#store/due-index.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import { ConditionsNotMetError, type Table } from '#store/table/table.ts'

/**
 * Ends a job as failed and releases its reservation in one transaction, with the entry of the audit log; a concurrent settlement wins or loses as a whole. Then deletes
 * the video if it is already in the bucket, and starts an execution, which asks the upstream to stop and sends the callback. A running
 * execution finds the job ended at its next step. A repeated cancel completes what a crash left undone, and does not change a job that
 * ended otherwise.
 * @returns the ended job.
 * @throws StoreRefusal `changed_meanwhile`, ServiceUnavailableError if the job or the table was contended: try again.
 */
export async function cancelVideoJob(job: VideoJob, context: ResolveContext, actor: Actor): Promise<VideoJob> {
  const { tenantId, jobId } = job
  const ended = await resolveVideoJob({ tenantId, jobId }, context, ({ status }) => ({
    kind: 'release',
    error: FAILURE_TEXT.cancelledByOperator,
    audit: auditEntry({
      actor,
      action: 'job cancel',
      target: { kind: 'job', id: jobId, tenantId },
      before: { status },
      after: { status: 'failed' },
      at: context.nowMilliseconds(),
    }),
  }))
  if (!isCancelledByOperator(ended)) {
    return ended
  }
  if (ended.finishedAt !== undefined) {
    await deleteObject(await context.openBucket(), ended.videoKey)
  }
  if (owesCallback(ended) || hasTask(ended)) {
    const reservation = await getReservation(context.table, tenantId, jobId)
    // One number above the last execution: for an ended job, Submit goes straight to Notify.
    await startVideoExecution({ tenantId, jobId }, (reservation?.restarts ?? 0) + 1)
  }
  return ended
}

function owesCallback({ callbackUrl, callbackState, isDeleted }: VideoJob): boolean {
  return callbackUrl !== undefined && callbackState === undefined && !isDeleted
}

function hasTask({ taskId, finishedAt }: VideoJob): boolean {
  return taskId !== undefined && finishedAt === undefined
}

/** The time until Reconcile checks the job again. */
const NEXT_LOOK_MILLISECONDS = 60_000

/** The execution that was started, and the state of the one that it replaces. */
export type Redrive = { readonly execution: string; readonly replaced: 'missing' | 'broken' | 'ended' }

/**
 * Replaces an execution that is missing or broken, under the number that Reconcile would use, also beyond Reconcile's three. Steps with
 * recorded work do not run again, so nothing is posted or billed twice. The number and the entry of the audit log are written first, in one
 * transaction: after a crash before the start, Reconcile starts the execution of that number, and no execution starts without an entry.
 * @throws StoreRefusal `redrive_refused` for a job that has ended, perhaps after it was read, or whose execution runs.
 */
export async function redriveVideoJob(
  job: VideoJob,
  { table, nowMilliseconds }: ResolveContext,
  actor: Actor,
): Promise<Redrive> {
  const { tenantId, jobId } = job
  const reservation = await getReservation(table, tenantId, jobId)
  if (isTerminal(job) || reservation?.state !== 'held') {
    throw new StoreRefusal('redrive_refused', await explainEnd(table, job))
  }
  const state = await describeVideoExecution(jobId, reservation.restarts)
  if (state === 'running') {
    const name = executionName(jobId, reservation.restarts)
    throw new StoreRefusal('redrive_refused', `the execution ${name} runs: wait for it, or stop it first`)
  }
  const restarts = state === 'missing' ? reservation.restarts : reservation.restarts + 1
  const redrive = { execution: executionName(jobId, restarts), replaced: state }
  const at = nowMilliseconds()
  const postponement = { untilMilliseconds: at + NEXT_LOOK_MILLISECONDS, restarts }
  try {
    await table.transact({
      reservation: { Update: postponedReservation({ tenantId, jobId }, postponement) },
      audit: auditEntry({
        actor,
        action: 'job redrive',
        target: { kind: 'job', id: jobId, tenantId },
        before: { execution: executionName(jobId, reservation.restarts), state },
        after: { execution: redrive.execution, state: 'started' },
        at,
      }),
    })
  } catch (error) {
    throw error instanceof ConditionsNotMetError
      ? new StoreRefusal('redrive_refused', await explainEnd(table, job))
      : error
  }
  await startVideoExecution({ tenantId, jobId }, restarts)
  return redrive
}

/** The job may have ended after it was read, so it is read again. */
async function explainEnd(table: Table, job: VideoJob): Promise<string> {
  const ended = isTerminal(job) ? job : await getVideoJob(table, job.tenantId, job.jobId)
  if (ended === undefined) {
    return `job ${job.jobId} does not exist any more`
  }
  return isTerminal(ended)
    ? `job ${ended.jobId} has ended (${ended.status}): there is nothing left to do`
    : `job ${ended.jobId} is ${ended.status} and has no open reservation: \`ledger verify\` says what is wrong`
}
