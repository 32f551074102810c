import { GetCommand } from '@aws-sdk/lib-dynamodb'
import { isContention, retryConflicts } from './conflict-retry.ts'
import type { Table } from './table.ts'
import type { TableKey } from './table-keys.ts'

/**
 * Reads one item, strongly consistent unless `mayLag` (half the price, for what a moment's delay does not hurt).
 * A burst of throttling is waited out as for a write: a step that failed by it would fail a healthy job.
 * @throws ServiceUnavailableError when the table stays out of reach.
 */
export async function readItem(
  table: Table,
  key: TableKey,
  { mayLag = false }: { mayLag?: boolean } = {},
): Promise<Record<string, unknown> | undefined> {
  const command = new GetCommand({ TableName: table.name, Key: key, ConsistentRead: !mayLag })
  const { Item } = await retryConflicts(() => table.client.send(command), isContention, table.pause)
  return Item
}
