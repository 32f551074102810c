import { isDeepStrictEqual, promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import * as z from 'zod/mini'
import {
  type DayUsage,
  firstSummaryDay,
  mergeCounters,
  type NearBudget,
  nearBudget,
  type SummarizedTenant,
  type Summary,
} from '#core/admin/summary.ts'
import { dayOf, daysBefore, type UsageCounter } from '#core/pricing/usage.ts'
import { lowBalanceOf } from './alerts/alert-settings.ts'
import { readKeyBudget } from './budgets.ts'
import { readFailedJobs } from './jobs/failed-jobs.ts'
import { change } from './table/expressions.ts'
import { type Item, queryBounded, readBatches, type Table } from './table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from './table/table-keys.ts'
import { readBalance, readTenantRecord } from './tenants/tenants.ts'
import { readUsageCounters } from './usage.ts'

/** More is no list for a person, and would not fit into a few kilobytes. */
const BUDGETS_MAX = 100

const nearItem = z.object({
  near: z.array(z.object({ tenantId: z.string(), budgetId: z.string(), percent: z.number() })),
})

/** The key of the item that lists the budgets of keys which need a person. */
export const NEAR_BUDGETS_KEY = tableKeys.summary('BUDGETS')

/** The listed budgets, of one tenant or of all. */
export function nearBudgetsOf(item: Item | undefined, tenantId?: string): readonly NearBudget[] {
  const near = item === undefined ? [] : nearItem.parse(item).near
  return near.filter((budget) => tenantId === undefined || budget.tenantId === tenantId)
}

/** Those of the listed budgets that need a person now: each may have changed, or is no longer watched. */
export async function currentNearBudgets(
  table: Pick<Table, 'readItems'>,
  listed: readonly NearBudget[],
  nowMilliseconds: number,
): Promise<readonly NearBudget[]> {
  if (listed.length === 0) {
    return []
  }
  const items = await table.readItems(listed.map(({ budgetId }) => tableKeys.keyBudget(budgetId)))
  return listed.flatMap(({ tenantId, budgetId }, index) => {
    const item = items[index]
    const isWatched = item?.GSI1PK === BUDGETS_PARTITION
    return isWatched ? (nearBudget({ tenantId, budgetId, budget: readKeyBudget(item) }, nowMilliseconds) ?? []) : []
  })
}

/** Lists these budgets, the most spent first, at most a hundred. Writes nothing if they are listed already. */
export async function keepNearBudgets(
  table: Pick<Table, 'readItem' | 'updateItem'>,
  near: readonly NearBudget[],
): Promise<void> {
  const listed = near.toSorted((left, right) => right.percent - left.percent).slice(0, BUDGETS_MAX)
  if (isDeepStrictEqual(nearBudgetsOf(await table.readItem(NEAR_BUDGETS_KEY)), listed)) {
    return
  }
  await table.updateItem(change(NEAR_BUDGETS_KEY, { set: { near: listed } }))
}

type ReadableTable = Pick<Table, 'readItem' | 'readItems' | 'queryPage'>

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
  const query = { KeyConditionExpression: 'PK = :pk', ExpressionAttributeValues: { ':pk': tableKeys.tenant('').PK } }
  const { items } = await queryBounded(table, query, TENANT_PAGES_MAX)
  const keys = items.map(({ SK }) => tableKeys.balance(String(SK)))
  const balances = new Map<unknown, Item>()
  for await (const batch of readBatches(table, keys)) {
    for (const balance of batch) {
      balances.set(balance.PK, balance)
    }
  }
  return items.flatMap((item) => {
    const balance = balances.get(tableKeys.balance(String(item.SK)).PK)
    return balance === undefined ? [] : [summarized(item, balance, known)]
  })
}

function summarized(item: Item, balance: Item, known: ReadonlyMap<string, SummarizedTenant>): SummarizedTenant {
  const record = readTenantRecord(item)
  const { id } = record
  const countedAt = known.get(id)?.countedAt
  return {
    ...record,
    ...readBalance(balance),
    lowBalance: lowBalanceOf(balance) ?? null,
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

/** Characters of one packed item: DynamoDB ends an item at 400 KB. */
const ITEM_CHARACTERS_MAX = 350_000

/** Tenants of one item: some 300 bytes each, a fifth of that packed. */
const TENANTS_PER_ITEM = 2_500

const compress = promisify(gzip)
const decompress = promisify(gunzip)

const ALL_PARTS = 100

/** The summary is too large for its item: a fault of the bounds of {@link mergeCounters}. */
class SummaryTooLargeError extends Error {
  override readonly name = 'SummaryTooLargeError'
}

/**
 * Writes a summary: the days that changed, then the tenants that did, then when. A run that breaks off in between is repeated by the next
 * one, because tenants say what was counted.
 */
export async function writeSummary(table: Pick<Table, 'updateItem'>, next: Summary, previous: Summary | undefined) {
  for (const day of changedDays(previous, next)) {
    await put(table, `DAY#${day}`, [...(next.days.get(day) ?? [])])
  }
  const pages = Math.max(1, Math.ceil(next.tenants.length / TENANTS_PER_ITEM))
  for (let page = 0; page < pages; page += 1) {
    const [before, tenants] = [previous?.tenants, next.tenants].map((all) =>
      all?.slice(page * TENANTS_PER_ITEM, (page + 1) * TENANTS_PER_ITEM),
    )
    if (!isDeepStrictEqual(before, tenants)) {
      await put(table, pageName(page), tenants)
    }
  }
  await put(table, 'HEAD', { asOf: next.asOf, pages })
}

function pageName(page: number): string {
  return `TENANTS#${String(page).padStart(3, '0')}`
}

/** Reads the summary, with the days from `from` on alone; undefined before the first one is written. */
export async function readSummary(
  table: Pick<Table, 'readItem' | 'queryPage'>,
  from = '0000-00-00',
): Promise<Summary | undefined> {
  const head = await table.readItem(tableKeys.summary('HEAD'))
  if (head === undefined) {
    return undefined
  }
  const { asOf, pages }: { asOf: number; pages: number } = await unpack(head.packed)
  const [days, tenants] = await Promise.all([
    readParts<[string, UsageCounter[]][]>(table, `DAY#${from}`, 'DAY#~'),
    readParts<SummarizedTenant[]>(table, pageName(0), pageName(pages - 1)),
  ])
  return {
    asOf,
    tenants: tenants.flatMap(([, page]) => page),
    days: new Map(days.map(([name, usage]): [string, DayUsage] => [name.slice('DAY#'.length), new Map(usage)])),
  }
}

async function readParts<Part>(table: Pick<Table, 'queryPage'>, first: string, last: string) {
  const query = {
    KeyConditionExpression: 'PK = :pk AND SK BETWEEN :first AND :last',
    ExpressionAttributeValues: { ':pk': tableKeys.summary('').PK, ':first': first, ':last': last },
  }
  const { items } = await queryBounded(table, query, ALL_PARTS)
  const parts: [name: string, part: Part][] = []
  for (const { SK, packed } of items) {
    parts.push([String(SK), await unpack<Part>(packed)])
  }
  return parts
}

/** Seconds until an item that no summary writes again is deleted: older days. */
const KEPT_SECONDS = 40 * 24 * 60 * 60

async function put(table: Pick<Table, 'updateItem'>, name: string, part: unknown): Promise<void> {
  const packed = (await compress(JSON.stringify(part, withBigints))).toString('base64')
  if (packed.length > ITEM_CHARACTERS_MAX) {
    throw new SummaryTooLargeError(`${name} has ${packed.length} characters`)
  }
  const ttl = Math.trunc(Date.now() / 1000) + KEPT_SECONDS
  await table.updateItem(change(tableKeys.summary(name), { set: { packed, ttl } }))
}

/** Only this file writes these items, so they are read as what they were. */
async function unpack<Part>(packed: unknown): Promise<Part> {
  const text = (await decompress(Buffer.from(String(packed), 'base64'))).toString()
  // biome-ignore lint/plugin: written by this file alone.
  return JSON.parse(text, fromBigints)
}

function withBigints(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? { $: String(value) } : value
}

function fromBigints(_name: string, value: unknown): unknown {
  return typeof value === 'object' && value !== null && '$' in value ? BigInt(String(value.$)) : value
}
