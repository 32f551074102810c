import { createJobRenderer } from '#adapters/jobs/render-video-job.ts'
import { getVideoJob } from '#adapters/stores/job-reader.ts'
import { openTable } from '#adapters/stores/table.ts'
import { openBucket } from '#adapters/stores/video-bucket.ts'
import { isJobId } from '#core/contract/job-id.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { isVisible } from '#core/jobs/video-job.ts'
import { callerOf, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'

const table = openTable()
const render = createJobRenderer(openBucket)

/** GET /v1/video/generations/{job_id} */
export const handler = apiHandler({ operation: 'get-video-job' }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const nowSeconds = Math.trunc(Date.now() / 1000)
  const job = isJobId(jobId) ? await getVideoJob(table, callerOf(event).tenantId, jobId) : undefined
  if (job === undefined || !isVisible(job, nowSeconds)) {
    throw new VideoJobNotFoundError()
  }
  return jsonResult(200, await render(job, nowSeconds))
})
