import { findCaller } from '#adapters/store/accounts/api-key-record.ts'
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

/** Every so often a reading looks at the key in place of the job, so that a revoked key stops reading within a minute. */
const READINGS_PER_KEY_CHECK = 60

type Followed = { readonly job: VideoJob; readonly keyDigest: string }

/** Reads a job again and again, with one request to the table each time. */
export class JobReader {
  readonly #table: Table
  readonly #keyDigest: string
  #job: VideoJob
  #readings = 0

  constructor(table: Table, { job, keyDigest }: Followed) {
    this.#table = table
    this.#job = job
    this.#keyDigest = keyDigest
  }

  /**
   * The job, at half the price of a strongly consistent read and a moment old. Undefined if the client may not see the job any more: it was
   * deleted, or its record is too old, or the key has ended.
   */
  async read(nowSeconds: number): Promise<VideoJob | undefined> {
    this.#readings += 1
    if (this.#readings % READINGS_PER_KEY_CHECK === 0) {
      const caller = await findCaller(this.#table, this.#keyDigest, nowSeconds)
      return caller?.tenantId === this.#job.tenantId ? this.#job : undefined
    }
    const { tenantId, jobId } = this.#job
    const item = await this.#table.readItem(tableKeys.job(tenantId, jobId), { mayLag: true })
    const job = item === undefined ? undefined : readVideoJobItem(item)
    if (job === undefined || !isVisible(job, nowSeconds)) {
      return undefined
    }
    this.#job = job
    return job
  }
}
