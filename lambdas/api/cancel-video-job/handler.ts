import { videoJobBody } from '#core/api/video-job-view.ts'
import { authenticatedCaller } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { systemClock } from '#platform/clock.ts'
import { cancelVideoJob } from '#routes/video-jobs.ts'
import { loadTextIfThere, openBucket } from '#store/bucket/bucket.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { cancelVideoJob as cancel } from '../../pipeline/cancel-video-job.ts'

const context = { ...systemClock, table: openTable() }
const bucket = once(openBucket)

export const handler = apiHandler(cancelVideoJob, {}, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const job = await cancel({ tenantId: authenticatedCaller(event).tenantId, jobId }, context)
  const upstreamText = await loadTextIfThere(bucket, job.pollText ?? job.submitText)
  const nowSeconds = Math.trunc(context.nowMilliseconds() / 1000)
  // A cancelled job has no url.
  return videoJobBody(job, { nowSeconds, upstreamText, signUrl: () => '' })
})
