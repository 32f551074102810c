import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { createTable, type DynamoDbEngine, startDynamoDbEngine } from '#local/dynamodb-engine.ts'
import { createDocumentClient } from '#store/table/sdk-table.ts'
import { type TableWithClient, tableWithClient } from './table-with-client.ts'
import { useOpened } from './use-opened.ts'

/** Tables on the local DynamoDB engine, for one test file. */
export type TestTable = {
  readonly endpoint: string
  readonly table: TableWithClient
  /** Another empty table on the same engine, for a test that looks at everything in it. */
  fresh(): Promise<TableWithClient>
  close(): Promise<void>
}

declare global {
  /** The engine of a worker, and how many tables it has had. It ends with the worker. */
  var workerEngine: { readonly engine: Promise<DynamoDbEngine>; tables: number } | undefined
}

/** A table for the tests of a file or a describe. */
export function useTestTable(): TestTable {
  return useOpened(startTestTable)
}

/** Creates a table as the local host does, on an engine in memory. Endpoints of the environment are not used. */
export async function startTestTable(): Promise<TestTable> {
  const shared = openEngine()
  const engine = await shared.engine
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const names: string[] = []
  const fresh = async (): Promise<TableWithClient> => {
    shared.tables += 1
    const name = `reelgate-${shared.tables}`
    names.push(name)
    await createTable(name, client)
    return tableWithClient({ client: createDocumentClient(client), name })
  }
  const close = async () => {
    // The file may have replaced what the client sends. A table that stays is in nobody's way.
    await Promise.allSettled(names.map((TableName) => client.send(new DeleteTableCommand({ TableName }))))
    client.destroy()
    await shared.end()
  }
  return { endpoint: engine.endpoint, table: await fresh(), fresh, close }
}

/** All files of a worker share one engine, because a start costs more than most of their tests. A program that is no worker has its own. */
function openEngine() {
  const start = () => ({ engine: startDynamoDbEngine(':memory:', { PATH: process.env.PATH }), tables: 0 })
  if (process.env.VITEST_WORKER_ID === undefined) {
    const own = start()
    return Object.assign(own, { end: async () => (await own.engine).close() })
  }
  globalThis.workerEngine ??= start()
  return Object.assign(globalThis.workerEngine, { end: async () => undefined })
}
