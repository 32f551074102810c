import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { recordCleanedUp } from '../stores/job-deletion.ts'
import type { Table } from '../stores/table.ts'
import { deleteObject, type OpenBucket } from '../stores/video-bucket.ts'

/**
 * Removes what a deleted job left: the object, of which the CDN keeps no copy. An open job keeps its mark, because its execution may
 * still be storing; whoever ends it calls this again, and Reconcile calls it for any mark that is left.
 */
export async function cleanUpDeletedJob(
  { table, openBucket }: { table: Table; openBucket: OpenBucket },
  job: VideoJob,
): Promise<void> {
  await deleteObject(await openBucket(), job.videoKey)
  if (!isTerminal(job)) {
    return
  }
  await recordCleanedUp(table, job)
}
