import { listTenantIds } from '#adapters/store/accounts/tenant-store.ts'
import { readVideoJobItem } from '#adapters/store/jobs/video-job-item.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { isJobId } from '#core/ids.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { CommandFailedError } from '../command-line/command-failed-error.ts'

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
