import * as z from 'zod'
import { readEarlierReservation } from '#adapters/store/money/earlier-reservation.ts'
import { readHoldItem, unnamedRest } from '#adapters/store/money/hold-item.ts'
import type { Item } from '#adapters/store/table/item-codec.ts'
import { queryItems, queryPartition } from '#adapters/store/table/query-items.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { type TableKey, tableKeys } from '#adapters/store/table/table-keys.ts'
import { formatCredits, type Microcredits, microcredits } from '#core/money/money.ts'
import type { LedgerEntry } from '#core/quota/ledger-entry.ts'

const amount = z.union([z.number(), z.bigint()]).transform((value) => microcredits(value))

const ledgerItem = z
  .object({
    SK: z.string(),
    kind: z.enum(['grant', 'reserve', 'settle', 'release']),
    job: z.string().optional(),
    amount,
    actual: amount.optional(),
    at: z.number(),
    reservedAt: z.number().optional(),
    estimated: z.literal(true).optional(),
  })
  .refine(
    ({ kind, reservedAt }) => reservedAt === undefined || kind === 'settle' || kind === 'release',
    'the row of a relayed request is a resolution',
  )

/** One entry of the ledger; amounts in microcredits, `at` in milliseconds. */
export type LedgerRow = {
  readonly kind: LedgerEntry['kind']
  readonly job: string | null
  readonly amount: Microcredits
  readonly actual: Microcredits | null
  readonly at: number
  readonly isEstimated: boolean
  /** True for a relayed request, whose reservation has no row: the open item or the row of its resolution stands for it. */
  readonly isOfRequest: boolean
}

/**
 * Every entry of a tenant's ledger, newest first.
 * @param onMalformed receives the sort key of each malformed row.
 * @throws ZodError for a malformed row without `onMalformed`.
 */
export async function readLedgerRows(
  table: Table,
  tenantId: string,
  onMalformed?: (sortKey: string) => void,
): Promise<LedgerRow[]> {
  // Read before the rows: a request that is resolved in between is seen twice and never missed.
  const open = await readOpenReserves(table, tenantId)
  const rows: OrderedRow[] = []
  for await (const item of queryPartition(table, tableKeys.ledgerGrant(tenantId, '').PK)) {
    if (onMalformed !== undefined && !ledgerItem.safeParse(item).success) {
      onMalformed(String(item.SK))
    } else {
      rows.push(...toRows(item))
    }
  }
  const reserved = new Set(rows.flatMap(({ kind, job }) => (kind === 'reserve' ? [job] : [])))
  return [...rows, ...open.filter(({ job }) => !reserved.has(job))]
    .toSorted((left, right) => right.at - left.at || right.order.localeCompare(left.order))
    .map(({ order, ...row }) => row)
}

/**
 * Every entry of a tenant's ledger, sorted by job and request id, grants last. Only open items are held in memory.
 * @throws ZodError for a malformed row.
 */
export async function* streamLedgerRows(table: Table, tenantId: string): AsyncGenerator<LedgerRow> {
  const open = new Map((await readOpenReserves(table, tenantId)).map((row) => [row.job, row]))
  for await (const item of queryPartition(table, tableKeys.ledgerGrant(tenantId, '').PK)) {
    for (const { order: _, ...row } of toRows(item).toReversed()) {
      if (row.kind === 'reserve') {
        open.delete(row.job)
      }
      yield row
    }
  }
  for (const { order: _, ...row } of open.values()) {
    yield row
  }
}

/** The entries of one ledger item. @throws ZodError for a malformed item. */
export function readLedgerItem(item: Record<string, unknown>): LedgerRow[] {
  return toRows(item).map(({ order: _, ...row }) => row)
}

type OrderedRow = LedgerRow & { readonly order: string }

function toRows(item: Record<string, unknown>): OrderedRow[] {
  const { SK: order, job = null, actual = null, estimated = false, reservedAt, ...rest } = ledgerItem.parse(item)
  const row = { ...rest, job, actual, isEstimated: estimated, isOfRequest: reservedAt !== undefined, order }
  if (reservedAt === undefined) {
    return [row]
  }
  return [row, { ...row, ...RESERVE, at: reservedAt, order: tableKeys.ledgerReserve('', job ?? '').SK }]
}

const RESERVE = { kind: 'reserve', actual: null, isEstimated: false } as const

async function readOpenReserves(table: Table, tenantId: string): Promise<OrderedRow[]> {
  const rows: OrderedRow[] = []
  for await (const item of queryPrefix(table, tableKeys.requestReservation(tenantId, ''))) {
    const { requestId, amount: locked, reservedAt } = readEarlierReservation(item)
    rows.push(openReserve(requestId, locked, reservedAt))
  }
  for await (const item of queryPrefix(table, tableKeys.relayHold(tenantId, ''))) {
    const hold = readHoldItem(item)
    const rest = unnamedRest(hold)
    rows.push(...hold.open.map(({ id, amount: locked, at }) => openReserve(id, locked, at)))
    rows.push(...(rest.requests === 0 ? [] : [openReserve(hold.holdId, rest.amount, hold.renewedAt)]))
  }
  return rows
}

function queryPrefix(table: Table, { PK, SK }: TableKey): AsyncGenerator<Item> {
  return queryItems(table, {
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
    ConsistentRead: true,
  })
}

/** A request, or all requests that a hold does not name, under the id of the hold. */
function openReserve(job: string, locked: Microcredits, at: number): OrderedRow {
  return { ...RESERVE, job, amount: locked, at, isOfRequest: true, order: tableKeys.ledgerReserve('', job).SK }
}

/** An entry as the command line shows it. */
export function toLedgerEntry({ kind, job, amount: locked, actual, at, isEstimated }: LedgerRow): LedgerEntry {
  return {
    kind,
    job,
    amount: formatCredits(locked),
    actual: actual === null ? null : formatCredits(actual),
    at: new Date(at).toISOString(),
    ...(isEstimated ? { estimated: true } : {}),
  }
}
