import type { BudgetLimit } from '#core/money/budget-limit.ts'
import type { Clock } from '../../clock.ts'
import type { Actor } from '../audit/audit-entry.ts'
import type { Table } from '../table/table.ts'
import { type ChangedTenant, changeTenant } from './change-tenant.ts'

type BudgetChange = {
  readonly tenantId: string
  /** Null ends the budget. */
  readonly limit: BudgetLimit | null
  readonly actor: Actor
  readonly clock?: Pick<Clock, 'nowMilliseconds'>
}

/**
 * Sets, changes or ends the budget of a tenant, from its next request on, in one transaction with the entry of the audit log. A new
 * budget begins with what this period's counters say, and so does one that is set to another kind of period, or again to the same limit.
 * @throws StoreRefusal `not_found`. @throws StoreRefusal `changed_meanwhile` if other commands keep changing it.
 */
export async function setTenantBudget(table: Table, { limit, ...change }: BudgetChange): Promise<ChangedTenant> {
  return await changeTenant(table, { ...change, settings: { budget: limit }, action: 'tenant budget' })
}
