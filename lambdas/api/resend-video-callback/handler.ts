import { callbackAttemptView } from '#core/jobs/video-job.ts'
import { authenticatedCaller } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { openVideoUrlSigner } from '#platform/cdn/video-urls.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { resendVideoCallback } from '#routes/video-jobs.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { resendCallback } from '../../pipeline/deliver-callback.ts'

const context = {
  table: openTable(),
  catalogue: openCatalogue(),
  nowMilliseconds: Date.now,
  openUrlSigner: openVideoUrlSigner,
}

export const handler = apiHandler(resendVideoCallback, {}, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const attempt = await resendCallback({ tenantId: authenticatedCaller(event).tenantId, jobId }, context)
  return { object: 'video.callback' as const, id: jobId, ...callbackAttemptView(attempt) }
})
