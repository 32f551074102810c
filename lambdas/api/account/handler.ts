import { balanceView } from '#core/api/balance.ts'
import { parseUsageQuery, requireUsers, usageReport } from '#core/api/usage.ts'
import { InvalidRequestError, VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { dayOf } from '#core/pricing/usage.ts'
import { videoReceipt } from '#core/pricing/video-settlement.ts'
import { type ApiEvent, accountOf, authenticatedCaller } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { sharedHandler } from '#middleware/shared-handler.ts'
import { once } from '#platform/cache.ts'
import { getBalance, getUsage } from '#routes/account.ts'
import { getVideoReceipt } from '#routes/video-jobs.ts'
import { createCallerWithAccountReader } from '#store/caller-with-account.ts'
import { readReceiptRows } from '#store/job-ledger/receipt-rows.ts'
import { readApiKeyNames } from '#store/keys/api-keys.ts'
import { readUserKeeping } from '#store/named-users.ts'
import { openTable } from '#store/table/sdk-table.ts'
import { readUsageCounters } from '#store/usage.ts'

const table = once(openTable)

const balance = apiHandler(
  getBalance,
  { openTable: table, lookUpKey: createCallerWithAccountReader() },
  async (event) => balanceView(accountOf(event), Date.now()),
)

const usage = apiHandler(getUsage, { openTable: table }, async (event) => {
  const query = parseUsageQuery(parametersOf(event), dayOf(Date.now()))
  const { tenantId } = authenticatedCaller(event)
  if (query.groupBy.includes('user')) {
    requireUsers(query, await readUserKeeping(table(), tenantId))
  }
  const counters = await readUsageCounters(table(), tenantId, query)
  if (counters === undefined) {
    throw new InvalidRequestError([TOO_MUCH])
  }
  const report = usageReport(counters, query)
  if (!query.groupBy.includes('key')) {
    return report
  }
  const names = await readApiKeyNames(
    table(),
    report.data.map(({ key = '' }) => key),
  )
  return {
    ...report,
    data: report.data.map(({ key = '', ...group }) => ({ key, key_name: names.get(key) ?? null, ...group })),
  }
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

const receipt = apiHandler(getVideoReceipt, { openTable: table }, async (event) => {
  const jobId = event.pathParameters?.job_id ?? ''
  const { tenantId } = authenticatedCaller(event)
  const rows = isJobId(jobId) ? await readReceiptRows(table(), { tenantId, jobId }) : undefined
  if (rows === undefined) {
    throw new VideoJobNotFoundError()
  }
  return videoReceipt(jobId, rows)
})

/** What a tenant has, used and paid: reads of the money of one account. */
export const handler = sharedHandler([
  [getBalance, balance],
  [getUsage, usage],
  [getVideoReceipt, receipt],
])
