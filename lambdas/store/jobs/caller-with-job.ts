import type { VideoJob } from '#core/jobs/video-job.ts'
import { RecentValues } from '../../platform/cache.ts'
import { type Caller, findCaller, readCaller } from '../callers.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { getVideoJob, readVideoJobItem } from './job-reader.ts'

/** The key of a request, and the job that the request names; undefined where its id cannot be one. */
type JobRequest = { readonly keyDigest: string; readonly jobId: string | undefined; readonly nowSeconds: number }

/** A caller, and the job of its tenant; undefined when the tenant has no job with this id. */
type CallerWithJob = { readonly caller: Caller; readonly job: VideoJob | undefined }

/** Keys whose tenant is remembered, about a hundred kilobytes. */
const TENANTS_MAX = 1_000

/**
 * Finds a caller and a job of its tenant. Undefined for a key that is unknown, revoked, suspended or expired, whatever the job.
 *
 * The key of the job's item contains the tenant, which the key's record names: two reads, one after the other. For an API key
 * that was seen before, the tenant is guessed and both items are read in one request, at half the work and half the time. The
 * guess says where to look, never who may: the caller comes from the record as it is now, and the job of a wrongly guessed
 * tenant is dropped.
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
    const [keyItem, jobItem] = await table.readItems([tableKeys.apiKey(keyDigest), tableKeys.job(guess, jobId)])
    const caller = readCaller(keyItem, request)
    if (caller?.tenantId !== guess) {
      return await findJob(table, caller, jobId)
    }
    return { caller, job: jobItem === undefined ? undefined : readVideoJobItem(jobItem) }
  }
}
