import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createDocumentClient } from '#adapters/store/table/sdk-table.ts'
import { createTable } from '#local/create-table.ts'
import { startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { type TableWithClient, tableWithClient } from './table-with-client.ts'

/** The local DynamoDB engine, once per test file. */
export type TestTable = {
  readonly endpoint: string
  readonly table: TableWithClient
  /** Another empty table on the same engine, for a test that looks at everything in it. */
  fresh(): Promise<TableWithClient>
  close(): Promise<void>
}

/** Starts the engine in memory and creates the table as the local host does. Endpoints of the environment are not used. */
export async function startTestTable(): Promise<TestTable> {
  const engine = await startDynamoDbEngine(':memory:', { PATH: process.env.PATH })
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  let tables = 0
  const fresh = async (): Promise<TableWithClient> => {
    tables += 1
    const name = `reelgate-${tables}`
    await createTable(name, client)
    return tableWithClient({ client: createDocumentClient(client), name })
  }
  const close = async () => {
    client.destroy()
    await engine.close()
  }
  return { endpoint: engine.endpoint, table: await fresh(), fresh, close }
}
