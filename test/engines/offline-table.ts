import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createTable, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import { type TableWithClient, tableWithClient } from './table-with-client.ts'

/** The table of a local host: its file in the data directory, and its name. */
const TABLE_FILE = 'table.sqlite'
const TABLE_NAME = 'reelgate'

/** Gives the table in a data directory to `work`, before a host is started there. */
export async function withOfflineTable(
  dataDirectory: string,
  work: (table: TableWithClient) => Promise<void>,
): Promise<void> {
  const engine = await startDynamoDbEngine(join(dataDirectory, TABLE_FILE), { PATH: process.env.PATH })
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' }
  const client = new DynamoDBClient({ endpoint: engine.endpoint, region: 'us-east-1', credentials })
  try {
    await createTable(TABLE_NAME, client)
    await work(tableWithClient({ client: createDocumentClient(client), name: TABLE_NAME }))
  } finally {
    client.destroy()
    await engine.close()
  }
}
