import { parseUsageQuery, usageReport } from '#core/api/usage.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { dayOf } from '#core/pricing/usage.ts'
import { type ApiEvent, authenticatedCaller, jsonResult } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { once } from '#platform/cache.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { readUsageCounters } from '#store/usage.ts'

const table = once(openTable)

/** GET /v1/usage */
export const handler = apiHandler({ operation: 'get-usage', openTable: table }, async (event) => {
  const query = parseUsageQuery(parametersOf(event), dayOf(Date.now()))
  const counters = await readUsageCounters(table(), authenticatedCaller(event).tenantId, query)
  if (counters === undefined) {
    throw new InvalidRequestError([TOO_MUCH])
  }
  return jsonResult(200, JSON.stringify(usageReport(counters, query)))
})

const TOO_MUCH = {
  path: 'from',
  message: '`from` must be later: the range has more than 8 MB of counters, so read it in parts',
}

/** A list may be sent as `group_by=day,model` or as `group_by=day&group_by=model`. */
function parametersOf(event: ApiEvent): Readonly<Record<string, string | undefined>> {
  const { queryStringParameters, multiValueQueryStringParameters } = event
  return { ...queryStringParameters, group_by: multiValueQueryStringParameters?.group_by?.join() }
}
