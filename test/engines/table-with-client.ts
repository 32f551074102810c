import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Clock } from '#adapters/clock.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'

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
