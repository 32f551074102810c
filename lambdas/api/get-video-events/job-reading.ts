import { isComplete, type JobEvent, jobEvents } from '#core/jobs/job-events.ts'
import { isVisible, type VideoJob } from '#core/jobs/video-job.ts'
import { readVideoJobItem } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'

/** The events of a job until now, and whether more are expected. */
export type JobReading = { readonly events: readonly JobEvent[]; readonly isComplete: boolean }

/** What a record tells at a time. */
export function readingOf(job: VideoJob, nowSeconds: number): JobReading {
  return { events: jobEvents(job, nowSeconds), isComplete: isComplete(job, nowSeconds) }
}

/**
 * The job again, at half the price of a strongly consistent read and a moment old. Undefined if it was deleted or its record is too
 * old. The key is not looked at: a stream is short, and the next one needs it.
 */
export async function readFollowedJob(
  table: Pick<Table, 'readItem'>,
  { tenantId, jobId }: VideoJob,
  nowSeconds: number,
): Promise<VideoJob | undefined> {
  const item = await table.readItem(tableKeys.job(tenantId, jobId), { mayLag: true })
  const job = item === undefined ? undefined : readVideoJobItem(item)
  return job !== undefined && isVisible(job, nowSeconds) ? job : undefined
}
