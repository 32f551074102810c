import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDocumentClient, openTable } from '#adapters/store/table/sdk-table.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { createTable } from '#local/create-table.ts'
import { startDynamoDbEngine } from '#local/dynamodb-engine.ts'

/** Gives the table of the local engine, in memory and empty, to a measurement, and ends the engine after it. */
export async function withMemoryTable<Result>(measure: (table: Table) => Promise<Result>): Promise<Result> {
  const engine = await startDynamoDbEngine(':memory:', { PATH: process.env.PATH })
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  try {
    const name = 'reelgate-bench'
    await createTable(name, client)
    return await measure(openTable({ client: createDocumentClient(client), name }))
  } finally {
    client.destroy()
    await engine.close()
  }
}
