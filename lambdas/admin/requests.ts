import * as z from 'zod/mini'
import {
  type PageQuery,
  readPageLimit,
  readQueryChoice,
  readQueryTenant,
  readQueryText,
} from '#core/admin/page-query.ts'
import { firstIdAt, justBefore } from '#core/ids.ts'
import { formatCredits, ZERO } from '#core/money.ts'
import { usageView } from '#core/pricing/usage.ts'
import { readApiKeyNames } from '#store/keys/api-keys.ts'
import type { Item, TableQuery } from '#store/table/table.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { defineOperation, isoTime, type OperationContext, requireTenant, visibleTo } from './operation.ts'
import { readLedgerItem } from './read-ledger.ts'

/** One query, and one read of the names of the keys. A page may be short. The command line also asks for all tenants together. */
export const listRequests = defineOperation({
  name: 'list-requests',
  method: 'GET',
  path: '/admin/v1/requests',
  access: 'tenant',
  readsTenant: true,
  query: {
    tenant: readQueryTenant,
    ...{ key: readQueryText, model: readQueryText },
    failed: (query: PageQuery, name: string) => readQueryChoice(query, name, ['true', 'false']) === 'true',
    ...{ after: readQueryText, limit: readPageLimit },
  },
  async run({ tenant, ...wish }, context) {
    const { table, session, tenants, nowMilliseconds } = context
    const isOfAll = session === undefined && tenant === undefined
    const ids = isOfAll ? (await tenants()).tenants.map(({ id }) => id) : [requireTenant(context, tenant)]
    const isWhole = !(isOfAll || wish.failed) && wish.key === undefined && wish.model === undefined
    const pages: RequestPage[] = []
    for (const id of ids) {
      pages.push(await readPage(table, id, { ...wish, isWhole }, nowMilliseconds()))
    }
    const rows = pages.flatMap((page) => page.rows).toSorted((left, right) => (left.id < right.id ? 1 : -1))
    const shown = rows.slice(0, wish.limit)
    const names = await readApiKeyNames(
      table,
      shown.flatMap(({ key }) => key ?? []),
    )
    const next = isOfAll ? undefined : pages[0]?.next
    return {
      requests: shown.map((row) => ({ ...visibleTo(session, row), key_name: names.get(row.key ?? '') ?? null })),
      has_more: next !== undefined,
      next: next ?? null,
      as_of: isoTime(nowMilliseconds()),
    }
  },
})

type Wish = {
  readonly key: string | undefined
  readonly model: string | undefined
  readonly failed: boolean
  readonly after: string | undefined
  readonly limit: number
  /** Whether a short page is followed by the next one, because no filter leaves most of it out. */
  readonly isWhole: boolean
}

type ReadTable = OperationContext<'GET'>['table']

type RequestPage = { readonly rows: readonly ReturnType<typeof requestRow>[]; readonly next: string | undefined }

/** Rows that a query reads of which a filter leaves some out. */
const FILTERED_ROWS = 1_000

/** A clock of another process may be ahead. */
const AHEAD_MILLISECONDS = 24 * 60 * 60 * 1000

async function readPage(table: ReadTable, tenantId: string, wish: Wish, now: number): Promise<RequestPage> {
  const { items, nextKey } = await table.queryPage(queryOf(tenantId, wish, now))
  const shown = items.slice(0, wish.limit)
  const last = items.length > shown.length ? shown.at(-1)?.SK : nextKey?.SK
  return { rows: shown.map((item) => requestRow(tenantId, item)), next: last === undefined ? undefined : String(last) }
}

/** Backwards over the ids of jobs and requests, which sort by time. */
function queryOf(tenantId: string, { key, model, failed, after, limit, isWhole }: Wish, now: number): TableQuery {
  const filters = [
    'attribute_exists(reservedAt)',
    ...(key === undefined ? [] : ['keyId = :key']),
    ...(model === undefined ? [] : ['model = :model']),
    ...(failed ? ['attribute_exists(failure)'] : []),
  ]
  return {
    KeyConditionExpression: 'PK = :pk AND SK BETWEEN :oldest AND :newest',
    FilterExpression: filters.join(' AND '),
    ExpressionAttributeValues: {
      ':pk': tableKeys.ledgerResolution(tenantId, '').PK,
      ':oldest': firstIdAt(0),
      ':newest': after === undefined ? firstIdAt(now + AHEAD_MILLISECONDS) : justBefore(after),
      ...(key === undefined ? {} : { ':key': key }),
      ...(model === undefined ? {} : { ':model': model }),
    },
    Limit: isWhole ? limit : FILTERED_ROWS,
    ConsistentRead: true,
    ScanIndexForward: false,
  }
}

/** What the relay noted besides the money. */
const outcome = z.object({
  status: z.optional(z.number()),
  firstByte: z.optional(z.number()),
  failure: z.optional(z.string()),
  cause: z.optional(z.string()),
})

function requestRow(tenant: string, item: Item) {
  const [row] = readLedgerItem(item)
  const { status = null, firstByte = null, failure = null, cause = null } = outcome.parse(item)
  const { at = 0, reservedAt = 0, usage = null, actual = null } = row ?? {}
  return {
    id: row?.job ?? '',
    tenant,
    at: isoTime(reservedAt ?? at),
    key: row?.keyId ?? null,
    model: row?.model ?? null,
    channel: row?.channel ?? null,
    operation: row?.operation ?? null,
    ...{ status, failure, cause },
    usage: usage === null ? null : usageView(usage),
    cost: formatCredits(actual ?? ZERO),
    estimated: row?.isEstimated ?? false,
    first_byte_milliseconds: firstByte,
    milliseconds: at - (reservedAt ?? at),
  }
}

/** The operations that read requests, in the order of the documents. */
export const REQUEST_READS = [listRequests] as const
