import { readPageLimit } from '#core/admin/page-query.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { listVideoJobs } from '#store/jobs/job-reader.ts'
import type { ReadContext } from './read-context.ts'
import { tenantOf, visibleRow } from './tenant-of-request.ts'
import { videoRow } from './video-row.ts'

/** GET /admin/v1/videos: one query, however many jobs match the filter. */
export async function listVideos(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const session = sessionOf(event)
  const tenant = tenantOf(event)
  const query = event.queryStringParameters ?? {}
  const limit = readPageLimit(query)
  const { after, filter } = parseListQuery({ ...query, limit: undefined })
  const nowSeconds = Math.trunc(now() / 1000)
  const wish = { tenantId: tenant.id, limit, offset: 0, after, filter, nowSeconds, requestsMax: 1 }
  const page = await listVideoJobs(table(), wish)
  return {
    body: {
      object: 'list',
      data: page.jobs.map((job) => visibleRow(session, videoRow(job, tenant, nowSeconds))),
      has_more: page.hasMore,
      next: page.hasMore ? (page.lastId ?? null) : null,
      as_of: nowSeconds,
    },
  }
}
