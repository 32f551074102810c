import { callbackAttemptView } from '#core/jobs/video-job.ts'
import { authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { openVideoUrlSigner } from '#platform/cdn/video-urls.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { resendCallback } from '../../pipeline/deliver-callback.ts'

const context = {
  table: openTable(),
  catalogue: openCatalogue(),
  nowMilliseconds: Date.now,
  openUrlSigner: openVideoUrlSigner,
}

/** POST /v1/video/generations/{job_id}/callback */
export const handler = apiHandler({ operation: 'resend-video-callback' }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const attempt = await resendCallback({ tenantId: authenticatedCaller(event).tenantId, jobId }, context)
  const body = { object: 'video.callback', id: jobId, ...callbackAttemptView(attempt) }
  return jsonResult(200, JSON.stringify(body))
})
