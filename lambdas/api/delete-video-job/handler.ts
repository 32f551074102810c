import { authenticatedCaller } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { systemClock } from '#platform/clock.ts'
import { deleteVideoJob } from '#routes/video-jobs.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { deleteVideoJob as remove } from '../../pipeline/delete-video-job.ts'

const context = { ...systemClock, table: openTable(), openBucket: once(openBucket) }

export const handler = apiHandler(deleteVideoJob, {}, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  await remove({ tenantId: authenticatedCaller(event).tenantId, jobId }, context)
  return { deleted: true as const }
})
