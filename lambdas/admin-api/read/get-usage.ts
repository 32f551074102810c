import { allUsage, parseAllUsageQuery } from '#core/admin/usage.ts'
import { parseUsageQuery, usageReport } from '#core/api/usage.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { dayOf } from '#core/pricing/usage.ts'
import type { AdminResponse } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { readUsageCounters } from '#store/usage.ts'
import type { ReadContext } from './read-context.ts'
import { tenantIdIfGiven } from './tenant-of-request.ts'

/** A page of one tenant has two queries besides its session. */
const REQUESTS_MAX = 2

/** GET /admin/v1/usage: of one tenant by at most two queries of its counters, of all tenants from the summary. */
export async function getUsage(event: ApiEvent, { table, summary, now }: ReadContext): Promise<AdminResponse> {
  const today = dayOf(now())
  const tenantId = tenantIdIfGiven(event)
  if (tenantId === undefined) {
    const query = parseAllUsageQuery(event.queryStringParameters ?? {}, today)
    return { body: allUsage(await summary(), query, today) }
  }
  const query = parseUsageQuery({ ...event.queryStringParameters }, today)
  const counters = await readUsageCounters(table(), tenantId, { ...query, requestsMax: REQUESTS_MAX })
  if (counters === undefined) {
    const message = '`from` must be later: the range has more than 2 MB of counters, so read it in parts'
    throw new InvalidRequestError([{ path: 'from', message }])
  }
  return { body: { ...usageReport(counters, query), as_of: Math.trunc(now() / 1000), left_out: null } }
}
