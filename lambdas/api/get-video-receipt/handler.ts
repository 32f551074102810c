import { VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { videoReceipt } from '#core/pricing/video-settlement.ts'
import { authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { readReceiptRows } from '#store/job-ledger/receipt-rows.ts'
import { openTable } from '#store/table/sdk-table.ts'

const table = once(openTable)

/** GET /v1/video/generations/{job_id}/receipt */
export const handler = apiHandler({ operation: 'get-video-receipt', openTable: table }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const { tenantId } = authenticatedCaller(event)
  const rows = isJobId(jobId) ? await readReceiptRows(table(), { tenantId, jobId }) : undefined
  if (rows === undefined) {
    throw new VideoJobNotFoundError()
  }
  return jsonResult(200, JSON.stringify(videoReceipt(jobId, rows)))
})
