import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { RelayReservation } from '#adapters/store/money/relay-reservation.ts'
import { dueSortKey, openShard, tableKeys } from '#adapters/store/table/table-keys.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'

/** The item by which version 0.2.0 stored an open reservation of a relayed request. */
export function earlierItem({ tenantId, requestId, amount, model, operation, keyId, reservedAt }: RelayReservation) {
  return {
    ...tableKeys.requestReservation(tenantId, requestId),
    amount,
    model,
    operation,
    keyId,
    reservedAt,
    GSI1PK: openShard(requestId),
    GSI1SK: dueSortKey(reservedAt + 960_000),
  }
}

/** Reserves as version 0.2.0 did. */
export async function reserveEarlier(table: TableWithClient, reservation: RelayReservation): Promise<void> {
  await table.client.send(new PutCommand({ TableName: table.name, Item: earlierItem(reservation) }))
  await table.updateItem({
    Key: tableKeys.balance(reservation.tenantId),
    UpdateExpression: 'SET available = available - :amount, held = held + :amount',
    ExpressionAttributeValues: { ':amount': reservation.amount },
  })
}
