import * as z from 'zod/mini'
import { type BudgetPeriod, laterPeriodNear } from '#core/budgets.ts'
import { type Microcredits, ZERO } from '#core/money.ts'
import {
  addUsageSums,
  type CountedSettlement,
  counterOfSettlement,
  daysBefore,
  dimensionsOf,
  isCounted,
  NO_USAGE,
  sumsOfSettlement,
  type UsageCounter,
  type UsageSums,
} from '#core/pricing/usage.ts'
import { storedAmount } from './table/attributes.ts'
import { queryBounded, queryItems, type Table, type TableQuery, type TableWrite } from './table/table.ts'
import { type TableKey, tableKeys } from './table/table-keys.ts'

/** A count in an item; zero where it is left out. The codec reads large counts as bigint. */
const countAttribute = z._default(z.pipe(z.union([z.number(), z.bigint()]), z.transform(Number)), 0)

/** The attributes of counted usage, in a row of the ledger and in a counter alike. */
export const usageAttributes = {
  inputTokens: countAttribute,
  cachedInputTokens: countAttribute,
  cacheWriteTokens: countAttribute,
  outputTokens: countAttribute,
  videoMilliseconds: countAttribute,
  images: countAttribute,
}

/** Days in UTC, `yyyy-mm-dd`, both included. */
export type DayRange = { readonly from: string; readonly to: string }

/** Every counter of a tenant, from the first day to the last. */
const ALL_DAYS: DayRange = { from: '0000-00-00', to: '9999-99-99' }

/**
 * The writes that count settlements: one for each counter, however many settlements it counts, and none for a settlement of zero
 * (`isCounted`). They belong to the transaction that writes the ledger rows, which carry the mark `counted`.
 * @returns writes by a name for each counter; a transaction may touch no item twice, so all its settlements go into one call.
 */
export function countUsage(settlements: readonly CountedSettlement[]): Readonly<Record<string, TableWrite>> {
  const counters = new Map<string, { readonly key: TableKey; readonly sums: UsageSums }>()
  for (const settlement of settlements.filter(isCounted)) {
    const key = keyOf(settlement)
    const name = counterName(key)
    const sums = addUsageSums(counters.get(name)?.sums ?? NO_USAGE, sumsOfSettlement(settlement))
    counters.set(name, { key, sums })
  }
  return Object.fromEntries([...counters].map(([name, { key, sums }]) => [name, addTo(key, sums)]))
}

/** The name of the write of {@link countUsage} that counts this settlement, so that a group can be measured beforehand. */
export function counterNameOf(settlement: CountedSettlement): string {
  return counterName(keyOf(settlement))
}

function keyOf(settlement: CountedSettlement): TableKey {
  return tableKeys.usageCounter(settlement.tenantId, counterOfSettlement(settlement))
}

function counterName({ PK, SK }: TableKey): string {
  return `counter ${PK} ${SK}`
}

/** Sums that do not move are left out, which keeps the item small. */
function addTo(Key: TableKey, sums: UsageSums): TableWrite {
  const added = Object.entries(sums).filter(([, sum]) => sum > 0)
  return {
    Update: {
      Key,
      UpdateExpression: `ADD ${added.map(([name]) => `${name} :${name}`).join(', ')}`,
      ExpressionAttributeValues: Object.fromEntries(added.map(([name, sum]) => [`:${name}`, sum])),
    },
  }
}

/**
 * Counters of a tenant in a range of days, in the order of days. Consistent within each page of a megabyte: counters that move
 * while a later page is read may include newer settlements.
 */
export async function* streamUsageCounters(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  range: DayRange = ALL_DAYS,
): AsyncGenerator<UsageCounter> {
  for await (const item of queryItems(table, counterQuery(tenantId, range))) {
    yield readUsageCounter(item)
  }
}

/** DynamoDB ends a page at one megabyte. */
const PAGES_MAX = 8

/**
 * Reads counters with a bounded number of requests, however many settlements they count.
 * @returns undefined for a range with more than eight megabytes of counters, or one for each request of `requestsMax`.
 */
export async function readUsageCounters(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  { requestsMax = PAGES_MAX, ...range }: DayRange & { readonly requestsMax?: number },
): Promise<UsageCounter[] | undefined> {
  const { items, nextKey } = await queryBounded(table, counterQuery(tenantId, range), requestsMax)
  return nextKey === undefined ? items.map(readUsageCounter) : undefined
}

/** Counters of the days from `completeFrom` on. */
export type LatestCounters = { readonly counters: readonly UsageCounter[]; readonly completeFrom: string }

/**
 * Reads the counters of the latest days by one request, however many there are.
 * @returns whole days only: those from `completeFrom` on, which is the first day of the range if its counters fit into a megabyte.
 */
export async function readLatestUsageCounters(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  range: DayRange,
): Promise<LatestCounters> {
  const { items, nextKey } = await table.queryPage({ ...counterQuery(tenantId, range), ScanIndexForward: false })
  const counters = items.map(readUsageCounter)
  if (nextKey === undefined) {
    return { counters, completeFrom: range.from }
  }
  // The page may have ended within this day.
  const cut = counters.at(-1)?.day ?? range.to
  return { counters: counters.filter(({ day }) => day > cut), completeFrom: daysBefore(cut, -1) }
}

function counterQuery(tenantId: string, { from, to }: DayRange): TableQuery {
  return {
    KeyConditionExpression: 'PK = :pk AND SK BETWEEN :from AND :end',
    ExpressionAttributeValues: {
      ':pk': tableKeys.usageCounter(tenantId, '').PK,
      ':from': `${from}#`,
      // The character after `#`, which separates the day from the rest of the key.
      ':end': `${to}$`,
    },
    ConsistentRead: true,
  }
}

const counterItem = z.object({
  SK: z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}#[^#]*#[^#]*#/)),
  requests: countAttribute,
  ...usageAttributes,
  cost: storedAmount,
})

/** Reads a counter from its item. @throws ZodError for an item that this service did not write. */
export function readUsageCounter(item: unknown): UsageCounter {
  const { SK, ...sums } = counterItem.parse(item)
  return { ...dimensionsOf(SK), ...sums }
}

/**
 * What the usage counters of a period add up to.
 * @param keyIds counts these keys alone; undefined for all keys of the tenant.
 */
export async function spentInPeriod(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  { period, keyIds }: { readonly period: BudgetPeriod; readonly keyIds?: ReadonlySet<string> | undefined },
): Promise<Microcredits> {
  let spent = ZERO as bigint
  for await (const { keyId, cost } of streamUsageCounters(table, tenantId, daysOf(period))) {
    spent += keyIds === undefined || keyIds.has(keyId) ? cost : ZERO
  }
  return spent as Microcredits
}

/**
 * The period in which a budget begins: the current one, or near its end the next one, where a process with a faster clock has settled in
 * it. A budget of the old period would not count that settlement.
 */
export async function beginningPeriod(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  {
    current,
    now,
    keyIds,
  }: { readonly current: BudgetPeriod; readonly now: number; readonly keyIds?: ReadonlySet<string> },
): Promise<BudgetPeriod> {
  const next = laterPeriodNear(current.kind, now)
  const isNextBegun =
    next !== undefined &&
    next.id > current.id &&
    (await spentInPeriod(table, tenantId, { period: next, keyIds })) > ZERO
  return isNextBegun ? next : current
}

/** Undefined for a total, which has every day. */
function daysOf({ kind, id }: BudgetPeriod): DayRange | undefined {
  switch (kind) {
    case 'day':
      return { from: id, to: id }
    case 'month':
      return { from: `${id}-01`, to: `${id}-31` }
    case 'total':
      return undefined
    default:
      return kind satisfies never
  }
}

/** Readings while the tenant settles requests; each takes milliseconds. */
const READINGS_MAX = 10

/** Amounts that were read together with a sum of other items, such as the counters of a period. */
export type Snapshot<Read> = {
  /** As read before the other items. */
  readonly read: Read
  readonly sum: Microcredits
  /** Whether nothing moved between the two readings. Otherwise `sum` may include what `read` does not. */
  readonly isExact: boolean
}

/**
 * Reads amounts and a sum at one moment: again while `sameAt` finds that the amounts moved while the sum was read.
 * @returns the last reading if the amounts never stood still.
 */
export async function readSnapshot<Read>({
  read,
  count,
  sameAt,
}: {
  readonly read: () => Promise<Read>
  readonly count: (read: Read) => Promise<Microcredits>
  readonly sameAt: (before: Read, after: Read) => boolean
}): Promise<Snapshot<Read>> {
  for (let reading = 1; ; reading += 1) {
    const before = await read()
    const sum = await count(before)
    const isExact = sameAt(before, await read())
    if (isExact || reading === READINGS_MAX) {
      return { read: before, sum, isExact }
    }
  }
}
