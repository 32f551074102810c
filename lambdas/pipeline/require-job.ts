import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import type { Table } from '#adapters/store/table/table.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'

/** An execution names a job that the table does not hold: nothing that a retry mends. */
export class JobRecordMissingError extends Error {
  override readonly name = 'JobRecordMissingError'
}

/**
 * Reads the job that an execution is about.
 * @throws JobRecordMissingError when there is none.
 */
export async function requireVideoJob(table: Table, { tenantId, jobId }: StepInput): Promise<VideoJob> {
  const job = await getVideoJob(table, tenantId, jobId)
  if (job === undefined) {
    throw new JobRecordMissingError(`no record of job ${jobId}`)
  }
  return job
}
