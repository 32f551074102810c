import * as z from 'zod/mini'
import { formatCredits, type Microcredits, microcredits } from '#core/money.ts'
import { type CountedUsage, countedUsage, LEDGER_KINDS, type LedgerEntry, usageView } from '#core/pricing/usage.ts'
import { readHoldItem, unnamedRest } from '#store/relay-ledger/hold.ts'
import { queryItems, queryPartition, type Table } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { usageAttributes } from '#store/usage.ts'

/** The attributes of a ledger row that say what it was for. Grants and corrections have none of them. */
export const ledgerDetailsShape = {
  model: z.optional(z.string()),
  operation: z.optional(z.string()),
  keyId: z.optional(z.string()),
  user: z.optional(z.string()),
  channel: z.optional(z.string()),
  usage: z.optional(z.object(usageAttributes)),
  counted: z.optional(z.literal(true)),
}

type DetailAttributes = Omit<z.infer<z.ZodMiniObject<typeof ledgerDetailsShape>>, 'usage'> & {
  readonly usage?: Partial<CountedUsage> | undefined
}

/** What an entry of the ledger was for; all null for a grant or a correction. */
export type LedgerDetails = {
  readonly model: string | null
  readonly operation: string | null
  /** Public id of the API key. */
  readonly keyId: string | null
  /** Whom the request named; undefined where that is not counted. */
  readonly user?: string | undefined
  /** The channel that served a settled job or request. */
  readonly channel: string | null
  /** The usage of a settlement. */
  readonly usage: CountedUsage | null
  /** Whether a usage counter includes the settlement. */
  readonly isCounted: boolean
}

/** Reads the details of a row from its attributes. */
export function readDetails({
  model,
  operation,
  keyId,
  user,
  channel,
  usage,
  counted,
}: DetailAttributes): LedgerDetails {
  return {
    model: model ?? null,
    operation: operation ?? null,
    keyId: keyId ?? null,
    ...(user === undefined ? {} : { user }),
    channel: channel ?? null,
    usage: usage === undefined ? null : countedUsage(usage),
    isCounted: counted === true,
  }
}

/** The details of a reservation, from those of the row that ended it. */
export function detailsOfReservation(details: LedgerDetails): LedgerDetails {
  return { ...details, channel: null, usage: null, isCounted: false }
}

/** The details of an open reservation without a row. */
export const NO_DETAILS: LedgerDetails = readDetails({})

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))

const ledgerItem = z
  .object({
    SK: z.string(),
    kind: z.enum(LEDGER_KINDS),
    job: z.optional(z.string()),
    amount,
    actual: z.optional(amount),
    at: z.number(),
    reservedAt: z.optional(z.number()),
    estimated: z.optional(z.literal(true)),
    ...ledgerDetailsShape,
    reason: z.optional(z.string()),
  })
  .check(
    z.refine(
      ({ kind, reservedAt }) => reservedAt === undefined || kind === 'settle' || kind === 'release',
      'the row of a relayed request is a resolution',
    ),
  )

/** One entry of the ledger; amounts in microcredits, `at` in milliseconds. */
export type LedgerRow = LedgerDetails & {
  readonly kind: LedgerEntry['kind']
  /** Of a grant or an adjustment, which the operator may have chosen; null for all other entries. */
  readonly id: string | null
  /** Of an adjustment; null for all other entries. */
  readonly reason: string | null
  readonly job: string | null
  readonly amount: Microcredits
  readonly actual: Microcredits | null
  readonly at: number
  /** When a relayed request began; null for all rows but that of its end. */
  readonly reservedAt: number | null
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
  const attributes = ledgerItem.parse(item)
  const { SK: order, kind, amount: locked, at, job = null, actual = null, estimated = false, reservedAt } = attributes
  const row: OrderedRow = {
    ...readDetails(attributes),
    kind,
    id: kind === 'grant' || kind === 'adjust' ? order.slice(order.indexOf('#') + 1) : null,
    reason: attributes.reason ?? null,
    job,
    amount: locked,
    actual,
    at,
    reservedAt: reservedAt ?? null,
    isEstimated: estimated,
    isOfRequest: reservedAt !== undefined,
    order,
  }
  if (reservedAt === undefined) {
    return [row]
  }
  const reserve = { ...row, ...detailsOfReservation(row), ...RESERVE }
  return [row, { ...reserve, at: reservedAt, order: tableKeys.ledgerReserve('', job ?? '').SK }]
}

const RESERVE = {
  kind: 'reserve' as const,
  ...{ id: null, reason: null, actual: null, reservedAt: null },
  isEstimated: false,
}

async function readOpenReserves(table: Table, tenantId: string): Promise<OrderedRow[]> {
  const rows: OrderedRow[] = []
  const { PK, SK } = tableKeys.relayHold(tenantId, '')
  const holds = queryItems(table, {
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
    ConsistentRead: true,
  })
  for await (const item of holds) {
    const hold = readHoldItem(item)
    for (const { id: job, amount: locked, at, ...about } of hold.open) {
      rows.push(openReserve({ job, amount: locked, at, details: readDetails(about) }))
    }
    const rest = unnamedRest(hold)
    if (rest.requests > 0) {
      rows.push(openReserve({ job: hold.holdId, amount: rest.amount, at: hold.renewedAt, details: NO_DETAILS }))
    }
  }
  return rows
}

type OpenReserve = Pick<LedgerRow, 'amount' | 'at'> & { readonly job: string; readonly details: LedgerDetails }

/** A request, or all requests that a hold does not name, under the id of the hold. */
function openReserve({ details, job, ...reserved }: OpenReserve): OrderedRow {
  return { ...details, ...RESERVE, ...reserved, job, isOfRequest: true, order: tableKeys.ledgerReserve('', job).SK }
}

/** A row as operations show it. */
export function toLedgerEntry(row: LedgerRow): LedgerEntry {
  return {
    kind: row.kind,
    job: row.job,
    amount: formatCredits(row.amount),
    actual: row.actual === null ? null : formatCredits(row.actual),
    at: new Date(row.at).toISOString(),
    ...(row.reservedAt === null ? {} : { reserved_at: new Date(row.reservedAt).toISOString() }),
    ...(row.isEstimated ? { estimated: true } : {}),
    ...(row.model === null ? {} : { model: row.model }),
    ...(row.operation === null ? {} : { operation: row.operation }),
    ...(row.keyId === null ? {} : { key: row.keyId }),
    ...(row.user === undefined ? {} : { user: row.user }),
    ...(row.channel === null ? {} : { channel: row.channel }),
    ...(row.usage === null ? {} : { usage: usageView(row.usage) }),
    ...(row.isCounted ? { counted: true } : {}),
    ...(row.id === null ? {} : { id: row.id }),
    ...(row.reason === null ? {} : { reason: row.reason }),
  }
}
