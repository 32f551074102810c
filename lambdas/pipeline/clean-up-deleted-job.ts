import { deleteObject, type OpenBucket } from '#adapters/store/bucket/video-bucket.ts'
import { recordCleanedUp } from '#adapters/store/jobs/job-deletion.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'

/**
 * Removes what a deleted job left: the video, of which the CDN keeps no copy, and what its upstream said where that was too
 * large for the record. An open job keeps its mark, because its execution may still be storing, and those texts, which decide
 * what it costs; whoever ends it calls this again, and Reconcile calls it for any mark that is left.
 */
export async function cleanUpDeletedJob(
  { table, openBucket }: { table: Table; openBucket: OpenBucket },
  job: VideoJob,
): Promise<void> {
  const bucket = await openBucket()
  await deleteObject(bucket, job.videoKey)
  if (!isTerminal(job)) {
    return
  }
  for (const text of [job.submitText, job.pollText]) {
    if (text !== undefined && 'bucketKey' in text) {
      await deleteObject(bucket, text.bucketKey)
    }
  }
  await recordCleanedUp(table, job)
}
