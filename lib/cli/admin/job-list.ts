import { jobIdMilliseconds } from '#core/ids.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { openReservations } from '#store/due-index.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import { queryItems, type Table } from '#store/table/table.ts'
import { type JobKey, tableKeys } from '#store/table/table-keys.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { Command } from './command.ts'
import { jobRow } from './jobs.ts'
import { readTenantIdIfGiven } from './read-options.ts'

/** The limit of BatchGetItem. */
const BATCH_ITEMS = 100

/** Open reservations that are read: at 1 KB each, about a hundred queries. */
const SEEN_MAX = 10_000

/** `isWhole` is false if there are more open reservations than were read: an older job may be among the others. */
export type OpenJobs = { readonly jobs: readonly VideoJob[]; readonly isWhole: boolean }

/**
 * Jobs with an open reservation, oldest first, of one tenant or of all, including jobs that were deleted while they run. Read from
 * Reconcile's index, so the cost depends on the open reservations and not on the size of the table.
 */
export async function openJobs(
  table: Table,
  { tenantId, limit }: { readonly tenantId: string | undefined; readonly limit: number },
): Promise<OpenJobs> {
  const found: JobKey[] = []
  let seen = 0
  for await (const item of openReservations(table)) {
    seen += 1
    if (seen > SEEN_MAX) {
      break
    }
    if ('jobId' in item && (tenantId === undefined || item.tenantId === tenantId)) {
      found.push(item)
    }
  }
  const byAge = found.toSorted((left, right) => jobIdMilliseconds(left.jobId) - jobIdMilliseconds(right.jobId))
  return { jobs: await readJobs(table, byAge.slice(0, limit)), isWhole: seen <= SEEN_MAX }
}

/** The index lags a little: a job that has ended in between is left out. */
async function readJobs(table: Table, keys: readonly JobKey[]): Promise<VideoJob[]> {
  const jobs: VideoJob[] = []
  for (let first = 0; first < keys.length; first += BATCH_ITEMS) {
    const batch = keys.slice(first, first + BATCH_ITEMS).map(({ tenantId, jobId }) => tableKeys.job(tenantId, jobId))
    for (const item of await table.readItems(batch)) {
      if (item !== undefined) {
        jobs.push(readVideoJobItem(item))
      }
    }
  }
  return jobs.filter((job) => !isTerminal(job))
}

const STATUSES = ['queued', 'processing', 'succeeded', 'failed', 'cancelled']
const LIMIT_DEFAULT = 20

/** Lists the jobs of a tenant, newest first, or all open jobs, oldest first. */
export const jobList: Command = {
  name: 'job list',
  summary: 'list the jobs of a tenant, newest first, or all open jobs, oldest first, including deleted jobs',
  details: `With --open, jobs of all tenants or of --tenant, out of at most 10,000 open reservations. The cause is the reason in the log for a
failure, or for a wait for a channel; clients see only the error.`,
  options: {
    tenant: { value: 'ID|NAME', summary: 'the tenant; needed without --open' },
    open: { summary: 'jobs that have not ended, oldest first, with their age' },
    status: { value: 'STATUS', summary: `one of ${STATUSES.join(', ')}; not with --open` },
    limit: { value: 'N', summary: `maximum number of jobs; default: ${LIMIT_DEFAULT}` },
  },
  examples: [
    'job list --tenant demo --local',
    'job list --tenant demo --status processing --limit 100 --json',
    'job list --open --stage prod',
  ],
  async run(context, values) {
    const [status, limit] = [values.text('status'), values.count('limit') ?? LIMIT_DEFAULT]
    if (status !== undefined && !STATUSES.includes(status)) {
      throw new UsageError(`--status ${status}: use ${STATUSES.join(', ')}`)
    }
    if (values.has('open')) {
      if (status !== undefined) {
        throw new UsageError('--open and --status: use one of them')
      }
      return await listOpen(
        await context.table(),
        { tenantId: await readTenantIdIfGiven(context, values), limit },
        context.warn,
      )
    }
    const tenantId = await readTenantIdIfGiven(context, values)
    if (tenantId === undefined) {
      throw new UsageError('--tenant is missing: name a tenant, or list the open jobs of all tenants with --open')
    }
    return await listAll(await context.table(), { tenantId, status, limit })
  },
}

type Wanted = { readonly tenantId: string; readonly status: string | undefined; readonly limit: number }

async function listAll(table: Table, { tenantId, status, limit }: Wanted): Promise<Output> {
  const { PK, SK } = tableKeys.job(tenantId, '')
  const jobs: ReturnType<typeof jobRow>[] = []
  const items = queryItems(table, {
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
    ScanIndexForward: false,
  })
  for await (const item of items) {
    const row = jobRow(readVideoJobItem(item))
    if (status === undefined || row.status === status || (status === 'cancelled' && row.cancelled)) {
      jobs.push(row)
    }
    if (jobs.length >= limit) {
      break
    }
  }
  const rows = jobs.map((job) => [
    job.id,
    statusText(job),
    job.model,
    job.channel,
    job.created_at,
    job.error,
    job.cause,
  ])
  return { json: { jobs }, text: formatTable(['JOB', 'STATUS', 'MODEL', 'CHANNEL', 'CREATED', 'ERROR', 'CAUSE'], rows) }
}

async function listOpen(
  table: Table,
  which: { readonly tenantId: string | undefined; readonly limit: number },
  warn: (sentence: string) => void,
): Promise<Output> {
  const { jobs: found, isWhole } = await openJobs(table, which)
  if (!isWhole) {
    warn('not every open reservation was read: there may be older jobs')
  }
  const now = Date.now()
  const jobs = found.map((job) => ({
    ...jobRow(job),
    age_seconds: Math.max(0, Math.trunc((now - jobIdMilliseconds(job.jobId)) / 1000)),
  }))
  const rows = jobs.map((job) => [
    job.id,
    job.tenant,
    `${job.age_seconds} s`,
    statusText(job),
    job.model,
    job.channel,
    job.cause,
  ])
  return { json: { jobs }, text: formatTable(['JOB', 'TENANT', 'AGE', 'STATUS', 'MODEL', 'CHANNEL', 'CAUSE'], rows) }
}

function statusText({ status, deleted, cancelled }: ReturnType<typeof jobRow>): string {
  const marks = [...(cancelled ? ['cancelled'] : []), ...(deleted ? ['deleted'] : [])]
  return marks.length === 0 ? status : `${status} (${marks.join(', ')})`
}
