import { queryItems } from '#adapters/stores/query-items.ts'
import { getReservation } from '#adapters/stores/reservation.ts'
import { tableKeys } from '#adapters/stores/table-keys.ts'
import { getTenant } from '#adapters/stores/tenant-store.ts'
import { readVideoJobItem } from '#adapters/stores/video-job-item.ts'
import { formatTable } from './answer.ts'
import type { Command, CommandOption } from './command.ts'
import { describeJob, jobRow } from './jobs/describe-job.ts'
import { readExecutions } from './jobs/execution-history.ts'
import { findJob } from './jobs/find-job.ts'
import { readJobLedger } from './jobs/job-ledger.ts'
import { recordTimeline } from './jobs/record-timeline.ts'
import { UsageError } from './usage-error.ts'

/** How every command names a job. */
export const JOB_OPTIONS = {
  job: { value: 'ID', summary: 'id of the job', required: true },
  tenant: { value: 'ID', summary: 'whose job it is; every tenant is asked unless said' },
} as const satisfies Record<string, CommandOption>

const STATUSES = ['queued', 'processing', 'succeeded', 'failed']
const LIMIT_DEFAULT = 20

/** Whose job it is and how it stands. */
export const jobFind: Command = {
  name: 'job find',
  summary: 'find a job by its id alone: whose it is and how it stands',
  details: 'Asks every tenant, a hundred in one request; half a read unit each that has no such job.',
  options: { job: JOB_OPTIONS.job },
  examples: ['job find --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'],
  async run(context, values) {
    const json = jobRow(await findJob(await context.table(), values.required('job'), undefined))
    return { json, text: formatTable([], pairs(json)) }
  },
}

/** Everything about a job that an operator may see. */
export const jobShow: Command = {
  name: 'job show',
  summary: 'show a job: status, channel, upstream task, times, error, money',
  details: 'Never its prompt, references or urls. Deleted jobs are shown too.',
  options: JOB_OPTIONS,
  examples: ['job show --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --tenant demo --local'],
  async run(context, values) {
    const table = await context.table()
    const job = await findJob(table, values.required('job'), values.text('tenant'))
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

/** The jobs of a tenant, newest first. */
export const jobList: Command = {
  name: 'job list',
  summary: 'list the jobs of a tenant, newest first, deleted ones too',
  options: {
    tenant: { value: 'ID', summary: 'the tenant', required: true },
    status: { value: 'STATUS', summary: `one of ${STATUSES.join(', ')}` },
    limit: { value: 'N', summary: `jobs at most; ${LIMIT_DEFAULT} unless said` },
  },
  examples: ['job list --tenant demo --local', 'job list --tenant demo --status processing --limit 100 --json'],
  async run(context, values) {
    const [tenant, status, limit] = [
      values.required('tenant'),
      values.text('status'),
      values.count('limit') ?? LIMIT_DEFAULT,
    ]
    if (status !== undefined && !STATUSES.includes(status)) {
      throw new UsageError(`--status ${status}: use ${STATUSES.join(', ')}`)
    }
    const table = await context.table()
    await getTenant(table, tenant)
    const { PK, SK } = tableKeys.job(tenant, '')
    const jobs: ReturnType<typeof jobRow>[] = []
    const items = queryItems(table, {
      KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
      ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
      ScanIndexForward: false,
    })
    for await (const item of items) {
      const row = jobRow(readVideoJobItem(item))
      if (status === undefined || row.status === status) {
        jobs.push(row)
      }
      if (jobs.length >= limit) {
        break
      }
    }
    const rows = jobs.map((job) => [
      job.id,
      job.deleted ? `${job.status} (deleted)` : job.status,
      job.model,
      job.channel,
      job.created_at,
      job.error,
    ])
    return { json: { jobs }, text: formatTable(['JOB', 'STATUS', 'MODEL', 'CHANNEL', 'CREATED', 'ERROR'], rows) }
  },
}

/** What happened to a job, in order. */
export const jobTimeline: Command = {
  name: 'job timeline',
  summary: 'show what happened to a job and when, by the table and by its executions, restarts included',
  details: `Step Functions keeps the steps of an execution for 90 days. A local host keeps begin and end of each execution, until it
stops, and no steps.`,
  options: JOB_OPTIONS,
  examples: ['job timeline --job 0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c --local'],
  async run(context, values) {
    const table = await context.table()
    const job = await findJob(table, values.required('job'), values.text('tenant'))
    const [reservation, ledger] = await Promise.all([
      getReservation(table, job.tenantId, job.jobId),
      readJobLedger(table, job),
    ])
    const key = { jobId: job.jobId, restarts: reservation?.restarts ?? 0 }
    const { entries, hasHistory } = await readExecutions(await context.output('StateMachineArn'), key)
    const timeline = [...recordTimeline(job, ledger), ...entries]
      .toSorted((left, right) => left.at - right.at)
      .map(({ at, event, execution = null }) => ({ at: new Date(at).toISOString(), event, execution }))
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
