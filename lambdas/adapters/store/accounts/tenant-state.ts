import * as z from 'zod/mini'
import { readItem } from '../table/read-item.ts'
import type { Table } from '../table/table.ts'
import { type TableKey, tableKeys } from '../table/table-keys.ts'

/** A suspended tenant starts nothing new; what it has running ends as ever. */
export type TenantState = 'active' | 'suspended'

const stateItem = z.object({ state: z.enum(['active', 'suspended']) })

/** Reads a tenant's state, strongly consistent; undefined when there is no such tenant. */
export async function readTenantState(table: Table, tenantId: string): Promise<TenantState | undefined> {
  const item = await readItem(table, tableKeys.balance(tenantId))
  return item === undefined ? undefined : stateItem.parse(item).state
}

type StateCheck = {
  readonly Key: TableKey
  readonly ConditionExpression: string
  readonly ExpressionAttributeNames?: Record<string, string>
  readonly ExpressionAttributeValues?: Record<string, unknown>
}

/** What a transaction checks so that it counts only while the tenant is in this state, or, undefined, does not exist. */
export function isTenantInState(tenantId: string, state: TenantState | undefined): StateCheck {
  const Key = tableKeys.balance(tenantId)
  if (state === undefined) {
    return { Key, ConditionExpression: 'attribute_not_exists(PK)' }
  }
  return {
    Key,
    ConditionExpression: '#state = :state',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':state': state },
  }
}
