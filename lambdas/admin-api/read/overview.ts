import {
  type Attention,
  attentionOf,
  firstSummaryDay,
  leftOutOf,
  type Summary,
  SummaryNotWrittenError,
} from '#core/admin/summary.ts'
import { allUsage, parseAllUsageQuery } from '#core/admin/usage.ts'
import { balanceAmounts, budgetView } from '#core/api/balance.ts'
import { parseUsageQuery, usageReport } from '#core/api/usage.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { addUsageSums, dayOf, NO_USAGE, type UsageSums } from '#core/pricing/usage.ts'
import { channelHealth, figuresFrom, readChannelState, trafficOf } from '#lambdas/admin/channels.ts'
import { visibleTenant } from '#lambdas/admin/tenants.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { alertViewOf } from '#store/alerts/alert-settings.ts'
import { failedJobsKeys, failedJobsOf } from '#store/jobs/failed-jobs.ts'
import { buildSummary, NEAR_BUDGETS_KEY, nearBudgetsOf, readSummary } from '#store/summary.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { readBalance, readTenantRecord } from '#store/tenants/tenants.ts'
import { type LatestCounters, readLatestUsageCounters, readUsageCounters } from '#store/usage.ts'
import {
  type ReadableTable,
  type ReadContext,
  type ReadSummary,
  tenantIdIfGiven,
  unknownTenant,
} from './read-context.ts'

/** GET /admin/v1/overview: of one tenant by two requests to the table after that of the session, of all tenants from the summary. */
export async function getOverview(event: ApiEvent, context: ReadContext): Promise<AdminResponse> {
  const tenantId = tenantIdIfGiven(event)
  const body = tenantId === undefined ? await overviewOfAll(context) : await overviewOfTenant(event, tenantId, context)
  return { body: { object: 'overview', ...body } }
}

async function overviewOfAll(context: ReadContext) {
  const { now } = context
  const services = { ...context, table: context.table(), nowMilliseconds: now }
  const [summary, state] = await Promise.all([context.summary(), readChannelState(services)])
  const channels = state.config.channels.map((channel) => channelHealth(channel, state))
  const { asOf, tenants } = summary
  return {
    as_of: Math.trunc(asOf / 1000),
    tenant: null,
    spend: { ...spendOf(sumsByDay(summary), dayOf(now())), left_out: leftOutOf(summary), budget: null },
    balance: null,
    traffic: trafficOf(state),
    open_jobs: tenants.reduce((sum, { openJobs }) => sum + openJobs.count, 0),
    tenants: tenants.length,
    channels,
    figures_from: figuresFrom(state),
    attention: [
      ...channels.flatMap(attentionOfChannel),
      ...tenants.flatMap((tenant) => attentionOf(tenant, now())),
    ].slice(0, ATTENTION_MAX),
  }
}

function attentionOfChannel(channel: ReturnType<typeof channelHealth>): readonly Attention[] {
  const { id, disabled, breaker, breaker_openings: openings } = channel
  const about = { tenant: null, target: id }
  const found: Attention[] = []
  if (breaker === 'open' || breaker === 'half_open') {
    const message = `the breaker of ${id} is ${breaker.replace('_', ' ')}`
    found.push({ kind: 'breaker', level: 'critical', message, ...about })
  }
  if (openings !== null && openings > 0) {
    const message = `breakers of ${id} opened ${openings} times in the last ten minutes`
    found.push({ kind: 'breaker', level: 'critical', message, ...about })
  }
  if (disabled) {
    found.push({ kind: 'channel_disabled', level: 'warning', message: `${id} is disabled`, ...about })
  }
  return found
}

/** More is no list for a person. */
const ATTENTION_MAX = 100

async function overviewOfTenant(event: ApiEvent, tenantId: string, { table, now }: ReadContext) {
  const today = dayOf(now())
  const range = { from: firstSummaryDay(today), to: today }
  const keys = [
    tableKeys.tenant(tenantId),
    tableKeys.balance(tenantId),
    NEAR_BUDGETS_KEY,
    ...failedJobsKeys(tenantId, now()),
  ]
  const [[item, balanceItem, nearItem, ...failedItems], latest] = await Promise.all([
    table().readItems(keys),
    readLatestUsageCounters(table(), tenantId, range),
  ])
  if (item === undefined || balanceItem === undefined) {
    throw unknownTenant(tenantId)
  }
  const record = visibleTenant(sessionOf(event), { ...readTenantRecord(item), ...readBalance(balanceItem) })
  const attention = attentionOf(
    {
      ...record,
      lowBalance: alertViewOf(item, balanceItem).lowBalance ?? null,
      failedJobs: failedJobsOf(failedItems, now()),
      nearBudgets: nearBudgetsOf(nearItem, tenantId),
    },
    now(),
  )
  return {
    as_of: Math.trunc(now() / 1000),
    tenant: { id: record.id, name: record.name },
    spend: { ...spendOfCounters(latest, today), budget: budgetView(record.budget, now()) },
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

/** A page asks several times at once, and again every few seconds. */
const KEPT_MILLISECONDS = 2_000

type SourceOptions = {
  readonly table: () => ReadableTable
  readonly now: () => number
  /**
   * Whether this process makes the summary itself, as on a local host, where it is then never older than seconds. Elsewhere
   * Reconcile writes it each minute.
   */
  readonly isLive: boolean
}

/** Requests that arrive together share one summary. */
export function summarySource({ table, now, isLive }: SourceOptions): ReadSummary {
  let kept: { readonly summary: Promise<Summary>; readonly at: number } | undefined
  let latest: Summary | undefined
  const read = async () => {
    const summary = isLive
      ? await buildSummary(table(), { previous: latest, nowMilliseconds: now() })
      : await readSummary(table())
    if (summary === undefined) {
      throw new SummaryNotWrittenError()
    }
    latest = summary
    return summary
  }
  return () => {
    if (kept === undefined || now() - kept.at > KEPT_MILLISECONDS) {
      const summary = read()
      kept = { summary, at: now() }
      summary.catch(() => {
        kept = undefined
      })
    }
    return kept.summary
  }
}

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
