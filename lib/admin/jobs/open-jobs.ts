import { readVideoJobItem } from '#adapters/store/jobs/video-job-item.ts'
import { type JobKey, openReservations } from '#adapters/store/money/due-index.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { jobIdMilliseconds } from '#core/ids.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'

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
