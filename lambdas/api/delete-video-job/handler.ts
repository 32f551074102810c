import { authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { systemClock } from '#platform/clock.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { deleteVideoJob } from '../../pipeline/delete-video-job.ts'

const context = { ...systemClock, table: openTable(), openBucket: once(openBucket) }

/** DELETE /v1/video/generations/{job_id} */
export const handler = apiHandler({ operation: 'delete-video-job' }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  await deleteVideoJob({ tenantId: authenticatedCaller(event).tenantId, jobId }, context)
  return jsonResult(200, '{"deleted":true}')
})
