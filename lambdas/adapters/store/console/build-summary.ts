import * as z from 'zod/mini'
import {
  type DayUsage,
  firstSummaryDay,
  mergeCounters,
  type SummarizedTenant,
  type Summary,
} from '#core/admin/summary.ts'
import { microcredits } from '#core/money.ts'
import { dayOf, daysBefore, type UsageCounter } from '#core/pricing/usage.ts'
import { readBalance, readTenantRecord } from '../accounts/tenant-store.ts'
import { NEAR_BUDGETS_KEY, nearBudgetsOf } from '../alerts/near-budgets.ts'
import { readFailedJobs } from '../jobs/failed-jobs.ts'
import { readUsageCounters } from '../money/usage-counters.ts'
import type { Item } from '../table/item-codec.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

type ReadableTable = Pick<Table, 'readItem' | 'readItems' | 'queryPage'>

/** DynamoDB's bound of one read of several items. */
const BALANCES_PER_READ = 100

/** Tenants whose usage one summary reads, those first that have waited longest; the next summary goes on with the others. */
const COUNTED_TENANTS_MAX = 200

/** Eight queries of a megabyte each found that a tenant has too many counters: they are not asked again each minute. */
const TOO_MANY_MILLISECONDS = 60 * 60 * 1000

/** Pages of tenants, each of some 3,000. */
const TENANT_PAGES_MAX = 10

/** Rows of a day: what fits into one item of the table, packed. */
const DAY_ROWS_MAX = 8_000

/** Rows of one tenant and day. */
const TENANT_ROWS = { min: 1, max: 100 } as const

type BuildOptions = {
  readonly previous: Summary | undefined
  readonly nowMilliseconds: number
  /** False when there is no time for another read; what was read until then is the summary. */
  readonly hasTime?: () => boolean
}

/**
 * Reads what the pages over all tenants show: every tenant and its balance, and the usage of those tenants alone that have spent
 * something since their usage was last read, from the day of that reading on. The first summary reads all days, of at most
 * {@link COUNTED_TENANTS_MAX} tenants.
 */
export async function buildSummary(
  table: ReadableTable,
  { previous, nowMilliseconds, hasTime = () => true }: BuildOptions,
): Promise<Summary> {
  const known = new Map(previous?.tenants.map((tenant) => [tenant.id, tenant]))
  const [read, attention] = await Promise.all([readTenants(table, known), readAttention(table, nowMilliseconds)])
  const tenants = read.map((tenant) => ({ ...tenant, ...attention(tenant.id) }))
  const today = dayOf(nowMilliseconds)
  const first = firstSummaryDay(today)
  const days = new Map(
    [...(previous?.days ?? [])].filter(([day]) => day >= first).map(([day, usage]) => [day, new Map(usage)]),
  )
  const changed = tenants
    .filter((tenant) => isDue(tenant, nowMilliseconds))
    .toSorted((left, right) => (left.countedAt ?? 0) - (right.countedAt ?? 0))
  const rowsMax = Math.max(TENANT_ROWS.min, Math.min(TENANT_ROWS.max, Math.trunc(DAY_ROWS_MAX / tenants.length)))
  const counted = new Map<string, Counted>()
  for (const { id, balance, countedSpent, countedAt } of changed.slice(0, COUNTED_TENANTS_MAX)) {
    if (!hasTime()) {
      break
    }
    // A settlement may count on the day before, by a clock that is behind.
    const from = countedSpent === null || countedAt === undefined ? first : daysBefore(dayOf(countedAt), 1)
    const counters = await readUsageCounters(table, id, { from, to: today })
    if (counters !== undefined) {
      replaceCounters(days, { tenantId: id, from, counters, rowsMax })
    }
    // A tenant with too many counters keeps the rows it has and counts as never read, so that `leftOutOf` names it.
    counted.set(id, { countedSpent: counters === undefined ? null : balance.spent, countedAt: nowMilliseconds })
  }
  return {
    asOf: nowMilliseconds,
    tenants: tenants.map((tenant) => ({ ...tenant, ...counted.get(tenant.id) })),
    days,
  }
}

type Counted = Required<Pick<SummarizedTenant, 'countedSpent' | 'countedAt'>>

/** Whether a tenant has spent something that the summary does not hold, and is to be read now. */
function isDue({ balance, countedSpent, countedAt = 0 }: SummarizedTenant, nowMilliseconds: number): boolean {
  const hasMoved = countedSpent !== balance.spent && balance.spent !== 0n
  return hasMoved && (countedSpent !== null || nowMilliseconds - countedAt >= TOO_MANY_MILLISECONDS)
}

/** What may need a person, of each tenant that has some. */
async function readAttention(
  table: ReadableTable,
  nowMilliseconds: number,
): Promise<(tenantId: string) => Pick<SummarizedTenant, 'failedJobs' | 'nearBudgets'>> {
  const [failed, item] = await Promise.all([readFailedJobs(table, nowMilliseconds), table.readItem(NEAR_BUDGETS_KEY)])
  const near = Map.groupBy(nearBudgetsOf(item), ({ tenantId }) => tenantId)
  return (tenantId) => {
    const [failedJobs, nearBudgets] = [failed.get(tenantId), near.get(tenantId)]
    return { ...(failedJobs && { failedJobs }), ...(nearBudgets && { nearBudgets }) }
  }
}

type Replacement = {
  readonly tenantId: string
  readonly from: string
  readonly counters: readonly UsageCounter[]
  readonly rowsMax: number
}

function replaceCounters(days: Map<string, Map<string, readonly UsageCounter[]>>, replacement: Replacement): void {
  const { tenantId, from, counters, rowsMax } = replacement
  for (const [day, usage] of days) {
    if (day >= from) {
      usage.delete(tenantId)
    }
  }
  for (const [day, ofDay] of Map.groupBy(counters, (counter) => counter.day)) {
    const usage = days.get(day) ?? new Map<string, readonly UsageCounter[]>()
    days.set(day, usage.set(tenantId, mergeCounters(ofDay, rowsMax)))
  }
}

async function readTenants(
  table: ReadableTable,
  known: ReadonlyMap<string, SummarizedTenant>,
): Promise<readonly SummarizedTenant[]> {
  const items: Item[] = []
  let startKey: Item | undefined
  for (let page = 0; page < TENANT_PAGES_MAX; page += 1) {
    const read = await table.queryPage(
      { KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': tableKeys.tenant('').PK } },
      startKey,
    )
    items.push(...read.items)
    startKey = read.nextKey
    if (startKey === undefined) {
      break
    }
  }
  const tenants: SummarizedTenant[] = []
  for (let first = 0; first < items.length; first += BALANCES_PER_READ) {
    const batch = items.slice(first, first + BALANCES_PER_READ)
    const balances = await table.readItems(batch.map(({ SK }) => tableKeys.balance(String(SK))))
    tenants.push(
      ...batch.flatMap((item, index) => {
        const balance = balances[index]
        return balance === undefined ? [] : [summarized(item, balance, known)]
      }),
    )
  }
  return tenants
}

const mark = z.object({
  lowBalance: z.optional(z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))),
})

function summarized(item: Item, balance: Item, known: ReadonlyMap<string, SummarizedTenant>): SummarizedTenant {
  const { id, name, suspension, createdAt } = readTenantRecord(item)
  const countedAt = known.get(id)?.countedAt
  return {
    id,
    name,
    createdAt,
    suspendedReason: suspension?.reason ?? null,
    ...readBalance(balance),
    lowBalance: mark.parse(balance).lowBalance ?? null,
    countedSpent: known.get(id)?.countedSpent ?? null,
    ...(countedAt === undefined ? {} : { countedAt }),
  }
}

/** Days of two summaries that differ, so that only those are written. */
export function changedDays(previous: Summary | undefined, next: Summary): readonly string[] {
  return [...next.days.keys()].filter((day) => !isSameUsage(previous?.days.get(day), next.days.get(day)))
}

function isSameUsage(left: DayUsage | undefined, right: DayUsage | undefined): boolean {
  return (
    left !== undefined &&
    right !== undefined &&
    left.size === right.size &&
    [...right].every(([tenant, counters]) => left.get(tenant) === counters)
  )
}
