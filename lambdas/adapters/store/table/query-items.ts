import { QueryCommand, type QueryCommandInput } from '@aws-sdk/lib-dynamodb'
import { isContention, retryConflicts } from './conflict-retry.ts'
import type { Table } from './table.ts'

/** Every item that a query finds, page by page. A burst of throttling is waited out. */
export async function* queryItems(
  table: Table,
  query: Omit<QueryCommandInput, 'TableName' | 'ExclusiveStartKey'>,
): AsyncGenerator<Record<string, unknown>> {
  let startKey: Record<string, unknown> | undefined
  do {
    const command = new QueryCommand({ ...query, TableName: table.name, ExclusiveStartKey: startKey })
    const { Items = [], LastEvaluatedKey } = await retryConflicts(
      () => table.client.send(command),
      isContention,
      table.pause,
    )
    yield* Items
    startKey = LastEvaluatedKey
  } while (startKey !== undefined)
}

/** Every item of one partition, strongly consistent. */
export function queryPartition(table: Table, partition: string): AsyncGenerator<Record<string, unknown>> {
  return queryItems(table, {
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': partition },
    ConsistentRead: true,
  })
}
