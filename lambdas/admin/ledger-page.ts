import { firstIdAt, justBefore, timeOfId } from '#core/ids.ts'
import type { Item, Table, TableQuery } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { type LedgerRow, readLedgerItem } from './read-ledger.ts'

/** Which rows to read. Times in Unix milliseconds. */
export type LedgerWish = {
  /** The most rows to return. */
  readonly limit: number
  readonly kind?: LedgerRow['kind'] | undefined
  /** Rows that began at this time or later. */
  readonly from?: number | undefined
  /** Rows that began before this time. */
  readonly before?: number | undefined
  readonly after?: LedgerPosition | undefined
}

/** Rows, the one that began last first. */
export type LedgerPage = {
  readonly rows: readonly PlacedRow[]
  /** Continues the reading; undefined if every row was read. */
  readonly next: LedgerPosition | undefined
  /** Whether there are more grants and corrections than one query reads. */
  readonly isIncomplete: boolean
}

/** Rows that a query reads of which a filter leaves some out. */
const FILTERED_ROWS = 1_000

/** A clock of another process may be ahead. */
const AHEAD_MILLISECONDS = 24 * 60 * 60 * 1000

/**
 * Reads a page of the ledger of a tenant with two queries: backwards over the ids of jobs and requests, which sort by time, and over
 * all grants and corrections, whose ids an operator may have chosen. A page of one kind may be short.
 * @throws ZodError for a malformed row.
 */
export async function readLedgerPage(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  wish: LedgerWish,
  nowMilliseconds: number,
): Promise<LedgerPage> {
  const [requests, others] = await Promise.all([
    readRequests(table, tenantId, wish, nowMilliseconds),
    readOthers(table, tenantId, wish),
  ])
  const { rest } = requests
  // What began before the end of an unfinished query may not be the next row.
  const known = others.rows.filter(({ beganAt }) => rest === undefined || beganAt >= rest.beganAt)
  const merged = [...requests.rows, ...known].toSorted(latestFirst)
  const rows = merged.slice(0, wish.limit)
  const next = merged.length > rows.length ? rows.at(-1) : rest
  return {
    rows,
    next: next === undefined ? undefined : { beganAt: next.beganAt, key: next.key },
    isIncomplete: others.isIncomplete,
  }
}

function latestFirst(left: PlacedRow, right: PlacedRow): number {
  return right.beganAt - left.beganAt || (right.key < left.key ? -1 : 1)
}

type Requests = { readonly rows: readonly PlacedRow[]; readonly rest: LedgerPosition | undefined }

async function readRequests(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  wish: LedgerWish,
  nowMilliseconds: number,
): Promise<Requests> {
  const query = requestQuery(tenantId, wish, nowMilliseconds)
  if (query === undefined) {
    return { rows: [], rest: undefined }
  }
  const { items, nextKey } = await table.queryPage(query)
  const rest = nextKey === undefined ? undefined : positionOf(String(nextKey.SK))
  return { rows: items.flatMap(placedRequest), rest }
}

function requestQuery(
  tenantId: string,
  { kind, from = 0, before, after, limit }: LedgerWish,
  nowMilliseconds: number,
): TableQuery | undefined {
  if (kind === 'grant' || kind === 'adjust') {
    return undefined
  }
  const { PK } = tableKeys.ledgerGrant(tenantId, '')
  const oldest = firstIdAt(from)
  const ends = [
    firstIdAt(before ?? nowMilliseconds + AHEAD_MILLISECONDS),
    ...(after === undefined ? [] : [isRequest(after.key) ? justBefore(after.key) : firstIdAt(after.beganAt + 1)]),
  ]
  const newest = ends.toSorted()[0] ?? oldest
  return oldest > newest
    ? undefined // The table refuses an empty range.
    : {
        KeyConditionExpression: 'PK = :pk AND SK BETWEEN :oldest AND :newest',
        ...(kind === undefined
          ? { Limit: limit + 1 }
          : {
              Limit: FILTERED_ROWS,
              FilterExpression: '#kind = :kind',
              ExpressionAttributeNames: { '#kind': 'kind' },
            }),
        ExpressionAttributeValues: {
          ':pk': PK,
          ':oldest': oldest,
          ':newest': newest,
          ...(kind === undefined ? {} : { ':kind': kind }),
        },
        ConsistentRead: true,
        ScanIndexForward: false,
      }
}

function placedRequest(item: Item): PlacedRow[] {
  const [row] = readLedgerItem(item)
  return row === undefined ? [] : [{ ...positionOf(String(item.SK)), row }]
}

/** The ids of jobs and requests begin with their time. */
function positionOf(key: string): LedgerPosition {
  return { beganAt: Number.parseInt(key.replace('-', '').slice(0, 12), 16), key }
}

function isRequest(key: string): boolean {
  return !key.startsWith(GRANT) && !key.startsWith(ADJUST)
}

const GRANT = tableKeys.ledgerGrant('', '').SK
const ADJUST = tableKeys.ledgerAdjustment('', '').SK

/** Corrections and grants sort behind all jobs and requests: no id of those begins with their prefixes. */
async function readOthers(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  { kind, from = 0, before = Number.POSITIVE_INFINITY, after }: LedgerWish,
): Promise<{ readonly rows: readonly PlacedRow[]; readonly isIncomplete: boolean }> {
  if (kind !== undefined && kind !== 'grant' && kind !== 'adjust') {
    return { rows: [], isIncomplete: false }
  }
  const { items, nextKey } = await table.queryPage({
    KeyConditionExpression: 'PK = :pk AND SK BETWEEN :first AND :last',
    ExpressionAttributeValues: {
      ':pk': tableKeys.ledgerGrant(tenantId, '').PK,
      ':first': ADJUST,
      ':last': `${GRANT}~`,
    },
    ConsistentRead: true,
    ScanIndexForward: false,
  })
  const rows = items.flatMap((item) => {
    const [row] = readLedgerItem(item)
    return row === undefined ? [] : [{ beganAt: row.at, key: String(item.SK), row }]
  })
  const isWanted = (placed: PlacedRow) =>
    placed.beganAt >= from &&
    placed.beganAt < before &&
    (kind === undefined || placed.row.kind === kind) &&
    (after === undefined || latestFirst({ ...after, row: placed.row }, placed) < 0)
  return { rows: rows.filter(isWanted), isIncomplete: nextKey !== undefined }
}

/** The rows of one job, request, grant or correction, by its id, in one request. */
export async function readLedgerRowsOf(
  table: Pick<Table, 'readItems'>,
  tenantId: string,
  id: string,
): Promise<readonly PlacedRow[]> {
  const keys = [
    tableKeys.ledgerReserve(tenantId, id),
    tableKeys.ledgerResolution(tenantId, id),
    tableKeys.ledgerGrant(tenantId, id),
    tableKeys.ledgerAdjustment(tenantId, id),
  ]
  const items = await table.readItems(keys)
  const rows = items.flatMap((item) => {
    const [row] = item === undefined ? [] : readLedgerItem(item)
    return row === undefined ? [] : [{ beganAt: timeOfId(id) ?? row.at, key: String(item?.SK), row }]
  })
  return rows.toSorted(latestFirst)
}

/** Where a page ended: when its last row began, and the sort key of that row. */
export type LedgerPosition = { readonly beganAt: number; readonly key: string }

/** A row of the ledger with its position. A relayed request has one row, that of its end. */
export type PlacedRow = LedgerPosition & { readonly row: LedgerRow }
