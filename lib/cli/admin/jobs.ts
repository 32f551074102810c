import { isJobId } from '#core/ids.ts'
import { isCancelled, isCancelledByOperator, isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits } from '#core/money.ts'
import type { LedgerEntry } from '#core/pricing/usage.ts'
import { cancelVideoJob, redriveVideoJob } from '#lambdas/admin/jobs.ts'
import { readLedgerItem, toLedgerEntry } from '#lambdas/admin/read-ledger.ts'
import type { ResolveContext } from '#lambdas/pipeline/resolve-video-job.ts'
import { once } from '#platform/cache.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { getReservation, type Reservation } from '#store/job-ledger/reservation.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { listTenantIds } from '#store/tenants/tenants.ts'
import { CommandFailedError } from '../failures.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, Command, CommandOption } from './command.ts'
import { orderTimeline, readExecutions, recordTimeline, timeText, withoutUrls } from './job-timeline.ts'
import { readTenantIdIfGiven } from './read-options.ts'

/** A job for an operator: no prompt, reference, url or reply, except for what the upstream's error sentence quotes. */
export function describeJob(job: VideoJob, reservation: Reservation | undefined, ledger: readonly LedgerEntry[]) {
  return {
    ...jobRow(job),
    request_id: job.requestId ?? null,
    upstream_task: job.taskId ?? null,
    submit: job.submitState ?? null,
    waiting_for_channel: job.isWaitingForChannel,
    expires_at: iso(job.expiresAt),
    submitted_at: iso(job.submittedAt),
    // A job that was cancelled or timed out has an end and no such moment.
    finished_upstream_at: iso(job.finishedAt),
    ended_at: ledger.find(({ kind }) => kind === 'settle' || kind === 'release')?.at ?? null,
    stored: job.storedDurationSeconds !== undefined,
    duration_secs: job.durationSeconds ?? null,
    callback: job.callbackUrl === undefined ? 'none' : job.callbackState === 'sent' ? 'sent' : 'not sent',
    reservation:
      reservation === undefined
        ? null
        : {
            state: reservation.state,
            amount: formatCredits(reservation.amount),
            actual: reservation.actual === undefined ? null : formatCredits(reservation.actual),
            restarts: reservation.restarts,
          },
    ledger,
  }
}

/** A job in a list. */
export function jobRow(job: VideoJob) {
  const error = job.error ?? job.failure
  return {
    id: job.jobId,
    tenant: job.tenantId,
    status: job.status,
    cancelled: isCancelled(job),
    deleted: job.isDeleted,
    model: job.model,
    channel: job.channelId ?? null,
    created_at: iso(job.createdAt),
    error: error === undefined ? null : withoutUrls(error),
    // A job that waits for a channel has a cause and no error.
    cause: job.failureCause === undefined ? null : withoutUrls(job.failureCause),
  }
}

function iso(seconds: number | undefined): string | null {
  return seconds === undefined ? null : new Date(seconds * 1000).toISOString()
}

/** The limit of BatchGetItem. */
const BATCH_ITEMS = 100

/**
 * A job by its id, including deleted jobs. Jobs are stored by tenant, so without `tenantId` every tenant is read, a hundred per request.
 * @throws UsageError for a malformed id; CommandFailedError if no tenant has the job.
 */
export async function findJob(table: Table, jobId: string, tenantId: string | undefined): Promise<VideoJob> {
  if (!isJobId(jobId)) {
    throw new UsageError(`--job ${jobId}: a job id is a UUID in lower case`)
  }
  if (tenantId !== undefined) {
    const item = await table.readItem(tableKeys.job(tenantId, jobId))
    return item === undefined ? notFound(`tenant ${tenantId} has no job ${jobId}`) : readVideoJobItem(item)
  }
  const tenants = await listTenantIds(table)
  for (let first = 0; first < tenants.length; first += BATCH_ITEMS) {
    const batch = tenants.slice(first, first + BATCH_ITEMS).map((tenant) => tableKeys.job(tenant, jobId))
    const item = (await table.readItems(batch)).find((each) => each !== undefined)
    if (item !== undefined) {
      return readVideoJobItem(item)
    }
  }
  return notFound(`none of the ${tenants.length} tenants has a job ${jobId}; records are kept 30 days`)
}

function notFound(sentence: string): never {
  throw new CommandFailedError(sentence)
}

type JobKey = { readonly tenantId: string; readonly jobId: string }

/** The ledger entries of one job, oldest first: one, or two if the job has ended. */
export async function readJobLedger(table: Table, { tenantId, jobId }: JobKey): Promise<LedgerEntry[]> {
  const keys = [tableKeys.ledgerReserve(tenantId, jobId), tableKeys.ledgerResolution(tenantId, jobId)]
  const items = await table.readItems(keys)
  return items.flatMap((item) => (item === undefined ? [] : readLedgerItem(item))).map(toLedgerEntry)
}

/** Options of every command on a job. */
export const JOB_OPTIONS = {
  job: { value: 'ID', summary: 'id of the job', required: true },
  tenant: { value: 'ID|NAME', summary: 'tenant of the job; default: every tenant is searched' },
} as const satisfies Record<string, CommandOption>

/** Shows the tenant and the status of a job. */
export const jobFind: Command = {
  name: 'job find',
  summary: 'find a job by its id alone, and show its tenant and status',
  details: 'Reads every tenant, a hundred per request, at half a read unit for each tenant without the job.',
  options: { job: JOB_OPTIONS.job },
  examples: ['job find --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'],
  async run(context, values) {
    const json = jobRow(await findJob(await context.table(), values.required('job'), undefined))
    return { json, text: formatTable([], pairs(json)) }
  },
}

/** Shows everything about a job that an operator may see. */
export const jobShow: Command = {
  name: 'job show',
  summary: 'show a job: status, channel, upstream task, times, error, money',
  details: `Prompt and references are never read, and urls are removed. The error is the upstream's, which may quote the prompt. Deleted jobs are
shown too.`,
  options: JOB_OPTIONS,
  examples: ['job show --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --tenant demo --local'],
  async run(context, values) {
    const table = await context.table()
    const job = await findJob(table, values.required('job'), await readTenantIdIfGiven(context, values))
    const [reservation, ledger] = await Promise.all([
      getReservation(table, job.tenantId, job.jobId),
      readJobLedger(table, job),
    ])
    const json = describeJob(job, reservation, ledger)
    const { ledger: _, reservation: money, ...rest } = json
    const entries = ledger.map(({ at, kind, amount, actual }) => [at, kind, amount, actual])
    const held = money === null ? [] : Object.entries(money).map(([name, value]) => [`reservation ${name}`, value])
    const text = [
      formatTable([], pairs({ ...rest, ...Object.fromEntries(held) })),
      formatTable(['AT', 'KIND', 'AMOUNT', 'ACTUAL'], entries),
    ]
    return { json, text: text.join('\n\n') }
  },
}

/** Shows the events of a job in order. */
export const jobTimeline: Command = {
  name: 'job timeline',
  summary: 'show the events of a job, from the table and from its executions, including restarts',
  details: `Step Functions keeps the steps of an execution for 90 days. A local host keeps the start and end of each execution until it stops, and
no steps.`,
  options: JOB_OPTIONS,
  examples: ['job timeline --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --local'],
  async run(context, values) {
    const table = await context.table()
    const job = await findJob(table, values.required('job'), await readTenantIdIfGiven(context, values))
    const [reservation, ledger] = await Promise.all([
      getReservation(table, job.tenantId, job.jobId),
      readJobLedger(table, job),
    ])
    const key = { jobId: job.jobId, restarts: reservation?.restarts ?? 0 }
    const { entries, hasHistory } = await readExecutions(await context.output('StateMachineArn'), key)
    const timeline = orderTimeline([...recordTimeline(job, ledger), ...entries]).map((entry) => {
      const { event, execution = null } = entry
      return { at: timeText(entry), event, execution }
    })
    const rows = timeline.map(({ at, event, execution }) => [at, event, execution])
    const note = hasHistory ? '' : '\n\nThe steps of the executions are not kept here.'
    return {
      json: { id: job.jobId, tenant: job.tenantId, status: job.status, steps_kept: hasHistory, timeline },
      text: `${formatTable(['AT', 'EVENT', 'EXECUTION'], rows)}${note}`,
    }
  },
}

function pairs(object: Readonly<Record<string, unknown>>): [string, string | null][] {
  return Object.entries(object).map(([name, value]) => [
    name,
    value === null || value === undefined ? null : String(value),
  ])
}

/**
 * Opens what a change of a job needs. The adapters find state machine and bucket in the environment, as in a deployed function.
 * @throws DeploymentNotFoundError.
 */
export async function openJobAccess(context: Pick<AdminContext, 'table' | 'output'>): Promise<ResolveContext> {
  const table = await context.table()
  process.env.STATE_MACHINE_ARN = await context.output('StateMachineArn')
  process.env.BUCKET_NAME = await context.output('BucketName')
  // A job that was deleted while it ran never had a url, so the CDN has no copy.
  process.env.VIDEO_DELIVERY ??= 'bucket'
  return { table, openBucket: once(openBucket), nowMilliseconds: Date.now }
}

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

function describeEnd(before: VideoJob, ended: VideoJob): Output {
  const isCancelled = isCancelledByOperator(ended)
  const changed = !isTerminal(before) && isCancelled
  const error = ended.error === undefined ? null : withoutUrls(ended.error)
  const json = { id: ended.jobId, tenant: ended.tenantId, status: ended.status, error, changed }
  const text = changed
    ? `job ${ended.jobId} is cancelled; its reservation was released`
    : `job ${ended.jobId} had already ended: ${ended.status}${isCancelled ? ', cancelled by the operator' : ''}; nothing was changed`
  return { json, text, isOk: isCancelled }
}
