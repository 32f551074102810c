import type { Item } from './item-codec.ts'
import type { Table, TableQuery } from './table.ts'

/** Every item that a query finds, page by page. */
export async function* queryItems(table: Pick<Table, 'queryPage'>, query: TableQuery): AsyncGenerator<Item> {
  let startKey: Item | undefined
  do {
    const { items, nextKey } = await table.queryPage(query, startKey)
    yield* items
    startKey = nextKey
  } while (startKey !== undefined)
}

/** Every item of one partition, strongly consistent. */
export function queryPartition(table: Pick<Table, 'queryPage'>, partition: string): AsyncGenerator<Item> {
  return queryItems(table, {
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': partition },
    ConsistentRead: true,
  })
}
