import type { Microcredits } from '#core/money.ts'
import { queryItems } from '../table/query-items.ts'
import type { Table } from '../table/table.ts'
import { type TableKey, tableKeys } from '../table/table-keys.ts'
import { readHoldItem } from './hold-item.ts'
import { readReservationItem } from './reservation.ts'

/** What open jobs and requests of a tenant hold in the budget of a key. Reads every reservation of a job that the table still has. */
export async function heldInBudget(
  table: Pick<Table, 'queryPage'>,
  tenantId: string,
  budgetId: string,
): Promise<Microcredits> {
  let held = 0n
  for await (const item of itemsAt(table, tableKeys.reservation(tenantId, ''))) {
    const { state, amount, budget } = readReservationItem(item)
    held += state === 'held' && budget?.id === budgetId ? amount : 0n
  }
  for await (const item of itemsAt(table, tableKeys.relayHold(tenantId, ''))) {
    held += readHoldItem(item).budgets[budgetId] ?? 0n
  }
  return held as Microcredits
}

function itemsAt(table: Pick<Table, 'queryPage'>, { PK, SK }: TableKey) {
  return queryItems(table, {
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
    ConsistentRead: true,
  })
}
