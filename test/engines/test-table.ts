import { randomUUID } from 'node:crypto'
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { createTable, type DynamoDbEngine } from '#local/dynamodb-engine.ts'
import type { Clock } from '#platform/clock.ts'
import { createDocumentClient, openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { startEngineOfTests, workerEndpoint } from './worker-engines.ts'

/** A table with its client and its name, for tests that do what no store does. */
export type TableWithClient = Table & { readonly client: DynamoDBDocumentClient; readonly name: string }

type Options = {
  readonly client: DynamoDBDocumentClient
  readonly name: string
  /** In place of the waits between tries. */
  readonly pause?: Clock['pause']
  /** In place of the system's clock, by which tries end after a suspension. */
  readonly nowMilliseconds?: Clock['nowMilliseconds']
}

/** The table as functions of video open it, through this client. */
export function tableWithClient({ client, name, ...clock }: Options): TableWithClient {
  return { ...openTable({ client, name, clock }), client, name }
}

/** Tables on the local DynamoDB engine, for one test file. */
export type TestTable = {
  readonly endpoint: string
  readonly table: TableWithClient
  /** Another empty table on the same engine, for a test that looks at everything in it. */
  fresh(): Promise<TableWithClient>
  close(): Promise<void>
}

/** Creates a table as the local host does, on an engine in memory. Endpoints of the environment are not used. */
export async function startTestTable(): Promise<TestTable> {
  const engine = await openEngine()
  const client = new DynamoDBClient({
    endpoint: engine.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  const names: string[] = []
  const fresh = async (): Promise<TableWithClient> => {
    const name = `reelgate-${randomUUID()}`
    names.push(name)
    await createTable(name, client)
    return tableWithClient({ client: createDocumentClient(client), name })
  }
  const close = async () => {
    // The file may have replaced what the client sends. A table that stays is in nobody's way.
    await Promise.allSettled(names.map((TableName) => client.send(new DeleteTableCommand({ TableName }))))
    client.destroy()
    await engine.close()
  }
  return { endpoint: engine.endpoint, table: await fresh(), fresh, close }
}

/** All files of a worker share one engine. A program that is no worker has its own. */
async function openEngine(): Promise<DynamoDbEngine> {
  const endpoint = workerEndpoint()
  return endpoint === undefined
    ? await startEngineOfTests()
    : { endpoint, isExternal: true, close: async () => undefined }
}

/** What the SDK throws when the connection broke: the service may have done its work. */
export class ConnectionLostError extends Error {
  override readonly name = 'ConnectionLostError'
  readonly $metadata = {}
}

type Fault = { readonly kind: 'reply_lost' | 'request_lost'; readonly times: number }

/**
 * Breaks the connection under requests whose input holds `marker` somewhere: after the table has done its work
 * (`reply_lost`) or before (`request_lost`). Later requests pass.
 */
export function breakConnection(
  table: TableWithClient,
  marker: string,
  { kind, times }: Fault = { kind: 'reply_lost', times: 1 },
) {
  let left = times
  table.client.middlewareStack.add(
    (next) => async (args) => {
      const text = JSON.stringify(args.input, (_key, value) => (typeof value === 'bigint' ? String(value) : value))
      const isMeant = text.includes(table.name) && text.includes(marker)
      if (left === 0 || !isMeant) {
        return await next(args)
      }
      left -= 1
      if (kind === 'reply_lost') {
        await next(args)
      }
      throw new ConnectionLostError('socket hang up')
    },
    { step: 'initialize' },
  )
  return { left: () => left }
}
