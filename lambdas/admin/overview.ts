import { readQueryTenant } from '#core/admin/page-query.ts'
import { type Attention, attentionOf, firstSummaryDay, leftOutOf, type Summary } from '#core/admin/summary.ts'
import { balanceAmounts } from '#core/api/balance.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { addUsageSums, dayOf, NO_USAGE, type UsageSums } from '#core/pricing/usage.ts'
import { alertViewOf } from '#store/alerts/alert-settings.ts'
import { failedJobsKeys, failedJobsOf } from '#store/jobs/failed-jobs.ts'
import { currentNearBudgets, NEAR_BUDGETS_KEY, nearBudgetsOf } from '#store/summary.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { noTenant, readBalance, readTenantRecord } from '#store/tenants/tenants.ts'
import { type LatestCounters, readLatestUsageCounters } from '#store/usage.ts'
import { budgetJson } from './budgets.ts'
import { channelHealth, figuresFrom, readChannelState, trafficOf } from './channels.ts'
import { allowedTenant, defineOperation, isoTime, type OperationContext, seesUpstreams } from './operation.ts'
import { visibleTenant } from './tenants.ts'

/**
 * Of one tenant by two requests to the table after that of the session, of all tenants from the summary; by one more where budgets of keys
 * may need a person.
 */
export const getOverview = defineOperation({
  name: 'get-overview',
  method: 'GET',
  path: '/admin/v1/overview',
  access: 'everyone',
  query: { tenant: readQueryTenant },
  async run({ tenant }, context) {
    const tenantId = allowedTenant(context.session, tenant)
    return tenantId === undefined ? await overviewOfAll(context) : await overviewOfTenant(tenantId, context)
  },
})

type Context = OperationContext<'GET'>

type Spend = Omit<ReturnType<typeof spendOf>, 'today' | 'month'> & {
  readonly [Field in 'today' | 'month' | 'left_out']: string | null
}

type Overview = {
  readonly as_of: string
  readonly tenant: { readonly id: string; readonly name: string } | null
  readonly spend: Spend & { readonly budget: ReturnType<typeof budgetJson> }
  readonly balance: ReturnType<typeof balanceAmounts> | null
  readonly traffic: ReturnType<typeof trafficOf>
  readonly open_jobs: number
  readonly tenants: number | null
  readonly channels: readonly ReturnType<typeof channelHealth>[]
  readonly figures_from: string | null
  readonly attention: readonly Attention[]
}

async function overviewOfAll(context: Context): Promise<Overview> {
  const now = context.nowMilliseconds()
  const [summary, state] = await Promise.all([context.summary(), readChannelState(context)])
  const channels = seesUpstreams(context.session)
    ? state.config.channels.map((channel) => channelHealth(channel, state))
    : []
  const { asOf, tenants } = summary
  const listed = tenants.flatMap(({ nearBudgets = [] }) => nearBudgets)
  const near = Map.groupBy(await currentNearBudgets(context.table, listed, now), ({ tenantId }) => tenantId)
  const traffic = trafficOf(state)
  return {
    as_of: isoTime(asOf),
    tenant: null,
    spend: { ...spendOf(sumsByDay(summary), dayOf(now)), left_out: leftOutOf(summary), budget: null },
    balance: null,
    traffic,
    open_jobs: tenants.reduce((sum, { openJobs }) => sum + openJobs.count, 0),
    tenants: tenants.length,
    channels,
    figures_from: figuresFrom(state),
    attention: [
      ...failingRequests(traffic),
      ...channels.flatMap(attentionOfChannel),
      ...tenants.flatMap((tenant) => attentionOf({ ...tenant, nearBudgets: near.get(tenant.id) }, now)),
    ].slice(0, ATTENTION_MAX),
  }
}

/** A person looks at more failures than one request in twenty, once there are as many requests. */
const FAILED = { sharePercent: 5, requestsMin: 20 }

function failingRequests(traffic: ReturnType<typeof trafficOf>): readonly Attention[] {
  const sum = (field: 'requests' | 'errors') => (traffic?.minutes ?? []).reduce((total, each) => total + each[field], 0)
  const [requests, errors] = [sum('requests'), sum('errors')]
  if (requests < FAILED.requestsMin || errors * 100 <= requests * FAILED.sharePercent) {
    return []
  }
  const message = `${Math.round((errors * 100) / requests)} % of the requests of the last half hour have failed`
  return [{ kind: 'failing_requests', level: 'critical', message, tenant: null, target: null }]
}

function attentionOfChannel(channel: ReturnType<typeof channelHealth>): readonly Attention[] {
  const { id, disabled, breaker, breaker_openings: openings } = channel
  const about = { tenant: null, target: id }
  const found: Attention[] = []
  const isOut = breaker === 'open' || breaker === 'half_open'
  const times = openings === 1 ? 'once' : `${openings} times`
  if (isOut || (openings !== null && openings > 0)) {
    const message = isOut
      ? `the breaker of ${id} is ${breaker.replace('_', ' ')}`
      : `${breaker === null ? 'breakers' : 'the breaker'} of ${id} opened ${times} in the last hour`
    found.push({ kind: 'breaker', level: 'critical', message, ...about })
  }
  if (disabled) {
    found.push({ kind: 'channel_disabled', level: 'warning', message: `${id} is disabled`, ...about })
  }
  return found
}

/** More is no list for a person. */
const ATTENTION_MAX = 100

async function overviewOfTenant(tenantId: string, { table, session, nowMilliseconds }: Context): Promise<Overview> {
  const now = nowMilliseconds()
  const today = dayOf(now)
  const range = { from: firstSummaryDay(today), to: today }
  const keys = [
    tableKeys.tenant(tenantId),
    tableKeys.balance(tenantId),
    NEAR_BUDGETS_KEY,
    ...failedJobsKeys(tenantId, now),
  ]
  const [[item, balanceItem, nearItem, ...failedItems], latest] = await Promise.all([
    table.readItems(keys),
    readLatestUsageCounters(table, tenantId, range),
  ])
  if (item === undefined || balanceItem === undefined) {
    throw noTenant(tenantId.slice(0, 64))
  }
  const record = visibleTenant(session, { ...readTenantRecord(item), ...readBalance(balanceItem) })
  const attention = attentionOf(
    {
      ...record,
      lowBalance: alertViewOf(item, balanceItem).lowBalance ?? null,
      failedJobs: failedJobsOf(failedItems, now),
      nearBudgets: await currentNearBudgets(table, nearBudgetsOf(nearItem, tenantId), now),
    },
    now,
  )
  return {
    as_of: isoTime(now),
    tenant: { id: record.id, name: record.name },
    spend: { ...spendOfCounters(latest, today), budget: budgetJson(record.budget, now) },
    balance: balanceAmounts(record.balance),
    traffic: null,
    open_jobs: record.openJobs.count,
    tenants: null,
    channels: [],
    figures_from: null,
    attention,
  }
}

/** A sum without some of its days would be wrong, so it is null. */
function spendOfCounters({ counters, completeFrom }: LatestCounters, today: string) {
  const days = new Map<string, UsageSums>()
  for (const counter of counters) {
    days.set(counter.day, addUsageSums(days.get(counter.day) ?? NO_USAGE, counter))
  }
  const spend = spendOf(days, today)
  if (completeFrom <= firstSummaryDay(today)) {
    return { ...spend, left_out: null }
  }
  return {
    ...spend,
    today: completeFrom > today ? null : spend.today,
    month: completeFrom > `${today.slice(0, 'yyyy-mm'.length)}-01` ? null : spend.month,
    left_out: `the days before ${completeFrom}, which have too many counters to sum here: see Usage, a few days at a time`,
  }
}

function sumsByDay({ days }: Summary): ReadonlyMap<string, UsageSums> {
  return new Map(
    [...days].map(([day, usage]) => [
      day,
      [...usage.values()].flat().reduce<UsageSums>((sum, counter) => addUsageSums(sum, counter), NO_USAGE),
    ]),
  )
}

/** Today, this month and each day, from sums by day. */
function spendOf(days: ReadonlyMap<string, UsageSums>, today: string) {
  const month = today.slice(0, 'yyyy-mm'.length)
  const ofMonth = [...days].filter(([day]) => day.startsWith(month))
  return {
    today: formatCredits(days.get(today)?.cost ?? NO_USAGE.cost),
    month: formatCredits(ofMonth.reduce((sum, [, { cost }]) => sum + cost, 0n) as Microcredits),
    days: [...days]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([day, { cost, requests }]) => ({ day, cost: formatCredits(cost), requests })),
  }
}

/** The operations that read the overview, in the order of the documents. */
export const OVERVIEW_READS = [getOverview] as const
