import { BatchGetCommand, GetCommand } from '@aws-sdk/lib-dynamodb'
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

/**
 * Reads a few items in one request, each strongly consistent as if read alone; in the order of the keys, which must differ.
 * What the table left out of its answer, under throttling or for its size, is read by itself.
 * @throws ServiceUnavailableError when the table stays out of reach.
 */
export async function readItems(
  table: Table,
  keys: readonly TableKey[],
): Promise<(Record<string, unknown> | undefined)[]> {
  const command = new BatchGetCommand({ RequestItems: { [table.name]: { Keys: [...keys], ConsistentRead: true } } })
  const answer = await retryConflicts(() => table.client.send(command), isContention, table.pause)
  const found = answer.Responses?.[table.name]
  const unread = answer.UnprocessedKeys?.[table.name]?.Keys ?? []
  const isAt =
    ({ PK, SK }: TableKey) =>
    (item: Record<string, unknown>) =>
      item.PK === PK && item.SK === SK
  return await Promise.all(
    keys.map((key) =>
      found === undefined || unread.some(isAt(key)) ? readItem(table, key) : Promise.resolve(found.find(isAt(key))),
    ),
  )
}
