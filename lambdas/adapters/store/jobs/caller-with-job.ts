import type { VideoJob } from '#core/jobs/video-job.ts'
import { RecentValues } from '../../recent-values.ts'
import { type Caller, readCaller } from '../accounts/api-key-record.ts'
import { findCaller } from '../accounts/key-store.ts'
import { readItems } from '../table/read-item.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getVideoJob } from './job-reader.ts'
import { readVideoJobItem } from './video-job-item.ts'

/** A key that was shown, and the job that its request names; undefined where that is no possible id. */
type JobRequest = { readonly keyDigest: string; readonly jobId: string | undefined; readonly nowSeconds: number }

/** The job is the caller's own; undefined when its tenant has none by this id. */
type CallerWithJob = { readonly caller: Caller; readonly job: VideoJob | undefined }

/** Keys whose tenant is kept, about a hundred kilobytes. */
const TENANTS_MAX = 1_000

/**
 * Finds a caller and a job of its tenant. Undefined for a key that is unknown, revoked, suspended or expired, whatever the job.
 *
 * Where the job lies is not known before its tenant, and that stands in the key's record: one read after the other. For a
 * key that was seen before, its tenant is guessed and both records are read afresh in one request, at half the work and
 * half the time. The guess says where to look, never who may: the caller is the one whom the record names now, and a job
 * of a tenant that was guessed wrong is dropped.
 */
export function createCallerWithJobReader() {
  const tenants = new RecentValues<string>(TENANTS_MAX)
  const findJob = async (table: Table, caller: Caller | undefined, jobId: string | undefined) => {
    if (caller === undefined) {
      return undefined
    }
    tenants.set(caller.keyDigest, caller.tenantId)
    return { caller, job: jobId === undefined ? undefined : await getVideoJob(table, caller.tenantId, jobId) }
  }
  return async (table: Table, request: JobRequest): Promise<CallerWithJob | undefined> => {
    const { keyDigest, jobId, nowSeconds } = request
    const guess = tenants.get(keyDigest)
    if (guess === undefined || jobId === undefined) {
      return await findJob(table, await findCaller(table, keyDigest, nowSeconds), jobId)
    }
    const [keyItem, jobItem] = await readItems(table, [tableKeys.apiKey(keyDigest), tableKeys.job(guess, jobId)])
    const caller = readCaller(keyItem, request)
    if (caller?.tenantId !== guess) {
      return await findJob(table, caller, jobId)
    }
    return { caller, job: jobItem === undefined ? undefined : readVideoJobItem(jobItem) }
  }
}
