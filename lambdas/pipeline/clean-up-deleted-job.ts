import { isTerminal, type VideoJob } from '#core/jobs/video-job.ts'
import { deleteObject, type OpenBucket } from '#store/bucket/bucket.ts'
import { recordCleanedUp } from '#store/jobs/cancel-and-delete.ts'
import type { Table } from '#store/table/table.ts'

/**
 * Deletes the objects of a deleted job, and the video of a cancelled one, whose replies stay readable: the video, which the CDN does not cache, and upstream replies that were too large
 * for the record. An open job keeps its replies, which decide its bill, and its mark, because its execution may still store
 * the video. The step that ends the job calls this again, and Reconcile calls it for every mark that is left.
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
  for (const text of job.isDeleted ? [job.submitText, job.pollText] : []) {
    if (text !== undefined && 'bucketKey' in text) {
      await deleteObject(bucket, text.bucketKey)
    }
  }
  await recordCleanedUp(table, job)
}
