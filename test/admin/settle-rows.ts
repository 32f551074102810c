import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { tableKeys } from '#store/table/table-keys.ts'
import type { TableWithClient } from '../engines/test-table.ts'

/** A settled row of a relayed request, changed. */
export async function putSettledRow(
  table: TableWithClient,
  job: string,
  changes: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const at = Date.parse('2026-11-22T12:00:00Z')
  const row = {
    kind: 'settle',
    job,
    amount: 9,
    actual: 3,
    at,
    reservedAt: at - 1,
    keyId: 'k1',
    operation: 'create-chat-completion',
    model: 'm',
  }
  const Item = { ...tableKeys.ledgerResolution('acme', job), ...row, ...changes }
  await table.client.send(new PutCommand({ TableName: table.name, Item }))
}
