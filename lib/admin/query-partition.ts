import { QueryCommand } from '@aws-sdk/lib-dynamodb'
import type { Table } from '#adapters/stores/table.ts'

/** Every item of one partition, strongly consistent, page by page. */
export async function* queryPartition(table: Table, partition: string): AsyncGenerator<Record<string, unknown>> {
  let startKey: Record<string, unknown> | undefined
  do {
    const page = await table.client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: 'PK = :pk',
        ExpressionAttributeValues: { ':pk': partition },
        ConsistentRead: true,
        ExclusiveStartKey: startKey,
      }),
    )
    yield* page.Items ?? []
    startKey = page.LastEvaluatedKey
  } while (startKey !== undefined)
}
