import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Clock } from '../../clock.ts'
import { environmentVariable } from '../../environment.ts'

/** The single table, as every store uses it. Key layout: docs/architecture.md, "Table". */
export type Table = {
  readonly client: DynamoDBDocumentClient
  readonly name: string
  /** How a contended request waits before its next try; the system's clock when left out. */
  readonly pause?: Clock['pause']
}

/** Index over open reservations and pending clean-ups. */
export const DUE_INDEX = 'GSI1'

/** Opens the table that the environment names (`TABLE_NAME`). */
export function openTable(): Table {
  return { client: createDocumentClient(), name: environmentVariable('TABLE_NAME') }
}

/** Amounts may exceed what a double holds exactly, so large numbers come back as bigint. */
export function createDocumentClient(client = new DynamoDBClient({})): DynamoDBDocumentClient {
  // It copies every input and output for a log that nobody gave it.
  client.middlewareStack.remove('loggerMiddleware')
  return DynamoDBDocumentClient.from(client, {
    marshallOptions: { removeUndefinedValues: true },
    unmarshallOptions: {
      wrapNumbers: (text) => (Number.isSafeInteger(Number(text)) || text.includes('.') ? Number(text) : BigInt(text)),
    },
  })
}
