import * as z from 'zod/mini'
import type { ConditionCheck, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** A suspended tenant starts nothing new; its running jobs and requests end as usual. */
export type TenantState = 'active' | 'suspended'

const stateItem = z.object({ state: z.enum(['active', 'suspended']) })

/** Reads a tenant's state, strongly consistent; undefined when there is no such tenant. */
export async function readTenantState(table: Table, tenantId: string): Promise<TenantState | undefined> {
  const item = await table.readItem(tableKeys.balance(tenantId))
  return item === undefined ? undefined : stateItem.parse(item).state
}

/** A check that lets a transaction pass only while the tenant is in this state, or, for undefined, does not exist. */
export function isTenantInState(tenantId: string, state: TenantState | undefined): ConditionCheck {
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
