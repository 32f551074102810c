import { countThatFit, videoJobListBody } from '#core/api/video-job-view.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import { authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { listVideoJobs } from '#store/jobs/job-reader.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { createJobRenderer } from '../../pipeline/render-video-job.ts'

const table = openTable()
const render = createJobRenderer(openBucket)

/** GET /v1/video/generations */
export const handler = apiHandler({ operation: 'list-video-jobs' }, async (event) => {
  const query = parseListQuery(event.queryStringParameters ?? {})
  const nowSeconds = Math.trunc(Date.now() / 1000)
  const page = await listVideoJobs(table, { ...query, tenantId: authenticatedCaller(event).tenantId, nowSeconds })
  const bodies = await Promise.all(page.jobs.map((job) => render(job, nowSeconds)))
  const fitting = countThatFit(bodies)
  const hasMore = page.hasMore || fitting < bodies.length
  const lastId = (fitting < bodies.length ? page.jobs[fitting - 1]?.jobId : page.lastId) ?? null
  return jsonResult(200, videoJobListBody(bodies.slice(0, fitting), { hasMore, lastId }))
})
