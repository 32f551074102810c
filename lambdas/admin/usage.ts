import { readQueryTenant } from '#core/admin/page-query.ts'
import { allUsage, parseAllUsageQuery } from '#core/admin/usage.ts'
import { parseUsageQuery, requireUsers, usageReport } from '#core/api/usage.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { dayOf } from '#core/pricing/usage.ts'
import { readApiKeyNames } from '#store/keys/api-keys.ts'
import { readUserKeeping } from '#store/named-users.ts'
import { readUsageCounters } from '#store/usage.ts'
import { defineOperation, existingTenant, isoTime, type OperationContext, type QueryReader } from './operation.ts'

/** A page of one tenant has two queries besides its session. */
const REQUESTS_MAX = 2

/** Parameters that are read together. */
const asGiven = ((query, name) => query[name]) satisfies QueryReader

/** Of one tenant by at most two queries of its counters, of all tenants from the summary. Names of keys are read beside. */
export const getUsage = defineOperation({
  name: 'get-usage',
  method: 'GET',
  path: '/admin/v1/usage',
  access: 'everyone',
  readsTenant: true,
  query: { tenant: readQueryTenant, from: asGiven, to: asGiven, group_by: asGiven, after: asGiven, limit: asGiven },
  async run({ tenant, ...query }, context) {
    const { object: _, group_by: by, data, ...page } = await usagePage(tenant, query, context)
    const names = await readApiKeyNames(
      context.table,
      data.flatMap(({ key }) => key ?? []),
    )
    const rows = data.map((row) => (row.key === undefined ? row : { ...row, key_name: names.get(row.key) ?? null }))
    return { by, rows, ...page }
  },
})

async function usagePage(
  asked: string | undefined,
  given: Parameters<typeof parseUsageQuery>[0],
  context: OperationContext<'GET'>,
) {
  const { table, summary, nowMilliseconds } = context
  const today = dayOf(nowMilliseconds())
  const tenantId = existingTenant(context, asked)
  if (tenantId === undefined) {
    return allUsage(await summary(), parseAllUsageQuery(given, today), today)
  }
  const query = parseUsageQuery(given, today)
  if (query.groupBy.includes('user')) {
    requireUsers(query, await readUserKeeping(table, tenantId))
  }
  const counters = await readUsageCounters(table, tenantId, { ...query, requestsMax: REQUESTS_MAX })
  if (counters === undefined) {
    const message = '`from` must be later: the range has more than 2 MB of counters, so read it in parts'
    throw new InvalidRequestError([{ path: 'from', message }])
  }
  return { ...usageReport(counters, query), as_of: isoTime(nowMilliseconds()), left_out: null }
}

/** The operations that read usage, in the order of the documents. */
export const USAGE_READS = [getUsage] as const
