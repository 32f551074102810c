import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  DynamoDBDocumentClient,
  GetCommand,
  QueryCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import type { Clock } from '../../platform/clock.ts'
import { environmentVariable } from '../../platform/configuration.ts'
import { retryingTable } from './retrying-table.ts'
import { decodeNumber, type Table } from './table.ts'

type SdkTableOptions = {
  readonly client?: DynamoDBDocumentClient
  readonly name?: string
  /** How a contended request waits for its next try, and until when; by the system's clock when left out. */
  readonly clock?: Partial<Clock> | undefined
}

/**
 * Opens the table through the SDK, as functions of video do: by default the one that the environment names (`TABLE_NAME`).
 * @throws MissingEnvironmentError without a name.
 */
export function openTable({
  client = createDocumentClient(),
  name = environmentVariable('TABLE_NAME'),
  clock,
}: SdkTableOptions = {}): Table {
  return retryingTable(
    {
      get: (input) => client.send(new GetCommand(input)),
      batchGet: (input) => client.send(new BatchGetCommand(input)),
      query: (input) => client.send(new QueryCommand(input)),
      update: (input) => client.send(new UpdateCommand(input)),
      transactWrite: (input) => client.send(new TransactWriteCommand(input)),
    },
    { name, clock },
  )
}

/** A client that reads and writes items as code uses them ({@link decodeNumber}), without its logger. */
export function createDocumentClient(client = new DynamoDBClient({})): DynamoDBDocumentClient {
  // The logger copies every input and output even when there is nowhere to log to.
  client.middlewareStack.remove('loggerMiddleware')
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: { wrapNumbers: decodeNumber },
  })
}
