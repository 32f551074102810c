import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import type { StepInput, VideoJob } from '#core/jobs/video-job.ts'
import { loadText } from '#store/bucket/bucket.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import type { StepContext } from './step-context.ts'

/** An execution names a job that is not in the table, or has no reservation. No retry can help. */
export class JobRecordMissingError extends Error {
  override readonly name = 'JobRecordMissingError'
}

/**
 * Reads the job of an execution.
 * @throws JobRecordMissingError when the table has no such job.
 */
export async function requireVideoJob(table: Table, { tenantId, jobId }: StepInput): Promise<VideoJob> {
  const job = await getVideoJob(table, tenantId, jobId)
  if (job === undefined) {
    throw new JobRecordMissingError(`no record of job ${jobId}`)
  }
  return job
}

/**
 * Loads the request that a job was created from. The gateway wrote it after validation, so it is not validated again.
 * @throws JobRecordMissingError when the reservation, which holds the request or its place, is missing.
 */
export async function loadVideoJobRequest(
  context: Pick<StepContext, 'table' | 'openBucket'>,
  { tenantId, jobId }: Pick<StepInput, 'tenantId' | 'jobId'>,
): Promise<VideoJobRequest> {
  const reservation = await getReservation(context.table, tenantId, jobId)
  const text = await loadText(context.openBucket, reservation?.request)
  if (text === undefined) {
    throw new JobRecordMissingError(`no request of job ${jobId}`)
  }
  // biome-ignore lint/plugin: written by the gateway, with the names of the interface.
  const request: VideoJobRequest = JSON.parse(text)
  return request
}
