import { readVideoJobItem } from '#adapters/store/jobs/video-job-item.ts'
import { readReceiptRows } from '#adapters/store/money/receipt-rows.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { isComplete, type JobEvent, jobEvents, lacksEnd } from '#core/jobs/job-events.ts'
import { isVisible, type VideoJob } from '#core/jobs/video-job.ts'

/** The events of a job until now, and whether more are expected. */
export type JobReading = { readonly events: readonly JobEvent[]; readonly isComplete: boolean }

/** Reads the ledger for records alone that an older version wrote. */
export async function readingOf(table: Table, job: VideoJob, nowSeconds: number): Promise<JobReading> {
  const resolution = lacksEnd(job) ? (await readReceiptRows(table, job))?.resolution : undefined
  const events = jobEvents(job, { nowSeconds, resolution })
  return { events, isComplete: isComplete(job, nowSeconds) }
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
