import { type CountedSettlement, countedUsage } from '#core/pricing/usage.ts'
import { type LedgerRow, readLedgerItem } from '#lambdas/admin/read-ledger.ts'
import { queryItems, type Table } from '#store/table/table.ts'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'

/** A settled row of the ledger: its key, and what a usage counter counts of it. */
export type SettledRow = { readonly key: TableKey; readonly settlement: CountedSettlement }

/**
 * The settlements of a tenant that have the mark `counted`. Malformed rows, which `ledger verify` reports, are left out. One row is
 * kept in memory at a time.
 */
export async function* streamSettledRows(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
): AsyncGenerator<SettledRow> {
  const { PK } = tableKeys.ledgerGrant(tenantId, '')
  const items = queryItems(table, {
    KeyConditionExpression: 'PK = :pk',
    FilterExpression: 'kind = :settle AND attribute_exists(counted)',
    ExpressionAttributeValues: { ':pk': PK, ':settle': 'settle' },
    ConsistentRead: true,
  })
  for await (const item of items) {
    const [row] = readOrSkip(item)
    const settlement = row && settlementOf(tenantId, row)
    if (settlement !== undefined) {
      yield { key: { PK, SK: String(item.SK) }, settlement }
    }
  }
}

function readOrSkip(item: Record<string, unknown>): readonly LedgerRow[] {
  try {
    return readLedgerItem(item)
  } catch {
    return []
  }
}

/** Undefined for a malformed row. */
function settlementOf(tenantId: string, row: LedgerRow): CountedSettlement | undefined {
  const { at, actual, keyId, operation, model, user, usage } = row
  return keyId === null || operation === null || model === null || actual === null
    ? undefined
    : { tenantId, at, keyId, operation, model, user, usage: usage ?? countedUsage({}), actual }
}
