import { videoJobBody } from '#core/api/video-job-view.ts'
import { authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { systemClock } from '#platform/clock.ts'
import { loadTextIfThere, openBucket } from '#store/bucket/bucket.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { cancelVideoJob } from '../../pipeline/cancel-video-job.ts'

const context = { ...systemClock, table: openTable() }
const bucket = once(openBucket)

/** POST /v1/video/generations/{job_id}/cancel */
export const handler = apiHandler({ operation: 'cancel-video-job' }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const job = await cancelVideoJob({ tenantId: authenticatedCaller(event).tenantId, jobId }, context)
  const upstreamText = await loadTextIfThere(bucket, job.pollText ?? job.submitText)
  const nowSeconds = Math.trunc(context.nowMilliseconds() / 1000)
  // A cancelled job has no url.
  return jsonResult(200, videoJobBody(job, { nowSeconds, upstreamText, signUrl: () => '' }))
})
