import { countThatFit, videoJobListBody } from '#core/api/video-job-view.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import { authenticatedCaller } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { listVideoJobs } from '#routes/video-jobs.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { listVideoJobs as listJobs } from '#store/jobs/job-reader.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { createJobRenderer } from '../../pipeline/render-video-job.ts'

const table = openTable()
const render = createJobRenderer(openBucket)

export const handler = apiHandler(listVideoJobs, {}, async (event) => {
  const query = parseListQuery(event.queryStringParameters ?? {})
  const nowSeconds = Math.trunc(Date.now() / 1000)
  const page = await listJobs(table, { ...query, tenantId: authenticatedCaller(event).tenantId, nowSeconds })
  const bodies = await Promise.all(page.jobs.map((job) => render(job, nowSeconds)))
  const fitting = countThatFit(bodies)
  const hasMore = page.hasMore || fitting < bodies.length
  const lastId = (fitting < bodies.length ? page.jobs[fitting - 1]?.jobId : page.lastId) ?? null
  return videoJobListBody(bodies.slice(0, fitting), { hasMore, lastId })
})
