import { readBalance, readTenantRecord } from '#adapters/store/accounts/tenant-store.ts'
import { alertViewOf } from '#adapters/store/alerts/alert-settings.ts'
import { readUsageCounters } from '#adapters/store/money/usage-counters.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { type Attention, attentionOf, firstSummaryDay, leftOutOf, type Summary } from '#core/console/summary.ts'
import { formatCredits, type Microcredits } from '#core/money/money.ts'
import { addUsageSums, dayOf, NO_USAGE, type UsageCounter, type UsageSums } from '#core/quota/usage-counter.ts'
import { tenantView } from '#lambdas/admin/tenants/tenant-view.ts'
import type { AdminResponse } from '#middleware/admin-event.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { channelHealth, readChannelState, trafficOf } from './channel-state.ts'
import type { ReadContext } from './read-context.ts'
import { tenantIdIfGiven, unknownTenant } from './tenant-of-request.ts'

/** GET /admin/v1/overview: of one tenant by two requests to the table, of all tenants from the summary. */
export async function getOverview(event: ApiEvent, context: ReadContext): Promise<AdminResponse> {
  const tenantId = tenantIdIfGiven(event)
  const body = tenantId === undefined ? await overviewOfAll(context) : await overviewOfTenant(context, tenantId)
  return { body: { object: 'overview', ...body } }
}

async function overviewOfAll(context: ReadContext) {
  const { now } = context
  const [summary, state] = await Promise.all([context.summary(), readChannelState(context)])
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
    attention: [
      ...channels.flatMap(attentionOfChannel),
      ...tenants.flatMap((tenant) => attentionOf(tenant, now())),
    ].slice(0, ATTENTION_MAX),
  }
}

function attentionOfChannel({ id, disabled, breaker }: ReturnType<typeof channelHealth>): readonly Attention[] {
  const about = { tenant: null, target: id }
  return [
    ...(breaker === null || breaker === 'closed'
      ? []
      : [
          {
            kind: 'breaker',
            level: 'critical',
            message: `the breaker of ${id} is ${breaker.replace('_', ' ')}`,
            ...about,
          } as const,
        ]),
    ...(disabled
      ? [{ kind: 'channel_disabled', level: 'warning', message: `${id} is disabled`, ...about } as const]
      : []),
  ]
}

/** More is no list for a person. */
const ATTENTION_MAX = 100

/** A month of one tenant fits into one page of the table nearly always. */
const COUNTER_REQUESTS_MAX = 2

async function overviewOfTenant({ table, now }: ReadContext, tenantId: string) {
  const today = dayOf(now())
  const range = { from: firstSummaryDay(today), to: today, requestsMax: COUNTER_REQUESTS_MAX }
  const [[item, balanceItem], counters] = await Promise.all([
    table().readItems([tableKeys.tenant(tenantId), tableKeys.balance(tenantId)]),
    readUsageCounters(table(), tenantId, range),
  ])
  if (item === undefined || balanceItem === undefined) {
    throw unknownTenant(tenantId)
  }
  const record = { ...readTenantRecord(item), ...readBalance(balanceItem) }
  const view = tenantView(record, now())
  const attention = attentionOf(
    {
      ...record,
      createdAt: record.createdAt ?? null,
      suspendedReason: record.suspension?.reason ?? null,
      lowBalance: alertViewOf(item, balanceItem).lowBalance ?? null,
      countedSpent: null,
    },
    now(),
  )
  return {
    as_of: Math.trunc(now() / 1000),
    tenant: { id: view.id, name: view.name },
    spend: { ...spendOfCounters(counters, today), budget: view.budget },
    balance: view.balance,
    traffic: null,
    open_jobs: view.open_jobs,
    tenants: null,
    channels: [],
    attention,
  }
}

/** No sum is better than a wrong one. */
const TOO_MANY_COUNTERS = {
  ...{ today: null, month: null, days: [] },
  left_out: 'the spend of these days, which has too many counters to sum here: see Usage, a few days at a time',
}

function spendOfCounters(counters: readonly UsageCounter[] | undefined, today: string) {
  if (counters === undefined) {
    return TOO_MANY_COUNTERS
  }
  const days = new Map<string, UsageSums>()
  for (const counter of counters) {
    days.set(counter.day, addUsageSums(days.get(counter.day) ?? NO_USAGE, counter))
  }
  return { ...spendOf(days, today), left_out: null }
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
