import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { readEarlierReservation } from '#adapters/store/money/earlier-reservation.ts'
import type { RelayReservation } from '#adapters/store/money/relay-reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { dueSortKey, openShard, tableKeys } from '#adapters/store/table/table-keys.ts'
import { parseCredits } from '#core/money/money.ts'
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

/** Settles an open reservation as version 0.2.0 did: a row without a mark and without usage, and no counter. */
export async function settleEarlier(
  table: Table,
  { tenantId, requestId }: Pick<RelayReservation, 'tenantId' | 'requestId'>,
  { credits, atMilliseconds }: { readonly credits: string; readonly atMilliseconds: number },
): Promise<void> {
  const Key = tableKeys.requestReservation(tenantId, requestId)
  const { amount, model, reservedAt } = readEarlierReservation((await table.readItem(Key)) ?? {})
  const actual = parseCredits(credits)
  const row = { kind: 'settle', job: requestId, amount, actual, at: atMilliseconds, reservedAt, model }
  await table.transact({
    balance: {
      Update: {
        Key: tableKeys.balance(tenantId),
        UpdateExpression: 'SET held = held - :amount, available = available + :rest, spent = spent + :actual',
        ExpressionAttributeValues: { ':amount': amount, ':rest': amount - actual, ':actual': actual },
      },
    },
    open: { Delete: { Key, ConditionExpression: 'attribute_exists(PK)' } },
    row: {
      Put: {
        Item: { ...tableKeys.ledgerResolution(tenantId, requestId), ...row },
        ConditionExpression: 'attribute_not_exists(PK)',
      },
    },
  })
}
