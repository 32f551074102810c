import { readPageLimit } from '#core/admin/page-query.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { listVideoJobs } from '#store/jobs/job-reader.ts'
import { attemptRows } from './callback-attempts.ts'
import type { ReadContext } from './read-context.ts'
import { tenantOf } from './tenant-of-request.ts'

/** GET /admin/v1/webhooks: attempts of the newest jobs, of `limit` jobs in one query; a page may be empty. */
export async function listCallbackAttempts(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const { id: tenantId } = tenantOf(event)
  const query = event.queryStringParameters ?? {}
  const limit = readPageLimit(query)
  const { after } = parseListQuery({ after: query.after })
  const nowSeconds = Math.trunc(now() / 1000)
  const page = await listVideoJobs(table(), { tenantId, limit, offset: 0, after, nowSeconds, requestsMax: 1 })
  return {
    body: {
      object: 'list',
      data: page.jobs.flatMap(attemptRows),
      has_more: page.hasMore,
      next: page.hasMore ? (page.lastId ?? null) : null,
      as_of: nowSeconds,
    },
  }
}
