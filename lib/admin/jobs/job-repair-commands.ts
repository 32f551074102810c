import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { cancelVideoJob } from '#lambdas/admin/jobs/cancel-job.ts'
import { redriveVideoJob } from '#lambdas/admin/jobs/redrive-job.ts'
import { isCancelledByOperator } from '#lambdas/pipeline/cancel-upstream-task.ts'
import type { Answer } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { readTenantIdIfGiven } from '../tenants/read-tenant.ts'
import { findJob } from './find-job.ts'
import { openJobAccess } from './job-access.ts'
import { JOB_OPTIONS } from './job-commands.ts'
import { withoutUrls } from './record-timeline.ts'

/** Ends a job and releases its reservation. */
export const jobCancel: Command = {
  name: 'job cancel',
  summary: 'end a job as failed, release its reservation, and ask its upstream to stop',
  details: `The job ends with the error "cancelled by the operator" and its callback is sent, as for any failed job. What the
upstream charges for a task that it does not stop is not billed to the tenant. A job that has ended stays as it is: exit
code 0 when it was cancelled before, 1 when it ended otherwise.`,
  options: JOB_OPTIONS,
  examples: [
    'job cancel --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c',
    'job cancel --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --yes --json',
  ],
  async run(context, values) {
    const tenantId = await readTenantIdIfGiven(context, values)
    const job = await findJob(await context.table(), values.required('job'), tenantId)
    if (!isTerminal(job)) {
      await context.confirm(`${standing(job)} It will fail and its reservation will be released`)
    } else if (!isCancelledByOperator(job)) {
      return describeEnd(job, job)
    }
    return describeEnd(job, await cancelVideoJob(job, await openJobAccess(context), await context.actor()))
  },
}

/** Starts an execution for an open job without a working one. */
export const jobRedrive: Command = {
  name: 'job redrive',
  summary: 'start an execution for an open job whose execution is missing or broken',
  details: `Reconcile does this within minutes, up to three times; the command does it now, and beyond those three. It refuses a job that has
ended or whose execution runs. Nothing is posted or billed twice.`,
  options: JOB_OPTIONS,
  examples: ['job redrive --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'],
  async run(context, values) {
    const tenantId = await readTenantIdIfGiven(context, values)
    const job = await findJob(await context.table(), values.required('job'), tenantId)
    const { execution, replaced } = await redriveVideoJob(job, await openJobAccess(context), await context.actor())
    return {
      json: { id: job.jobId, tenant: job.tenantId, execution, replaced },
      text: `execution ${execution} was started; the last one was ${replaced}`,
    }
  },
}

function standing({ jobId, tenantId, status, channelId, finishedAt, storedDurationSeconds }: VideoJob): string {
  const where =
    storedDurationSeconds !== undefined
      ? 'its video is stored'
      : finishedAt !== undefined
        ? `its video is finished upstream by channel ${channelId}`
        : channelId === undefined
          ? 'no upstream has it'
          : `channel ${channelId} has it`
  return `Job ${jobId} of tenant ${tenantId} is ${status} and ${where}.`
}

function describeEnd(before: VideoJob, ended: VideoJob): Answer {
  const isCancelled = isCancelledByOperator(ended)
  const changed = !isTerminal(before) && isCancelled
  const error = ended.error === undefined ? null : withoutUrls(ended.error)
  const json = { id: ended.jobId, tenant: ended.tenantId, status: ended.status, error, changed }
  const text = changed
    ? `job ${ended.jobId} is cancelled; its reservation was released`
    : `job ${ended.jobId} had already ended: ${ended.status}${isCancelled ? ', cancelled by the operator' : ''}; nothing was changed`
  return { json, text, isOk: isCancelled }
}
