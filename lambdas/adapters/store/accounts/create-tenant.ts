import { v7 as uuidv7 } from 'uuid'
import { type BudgetLimit, formatBudgetLimit } from '#core/budgets.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { createWebhookSecret } from '../../outbound/callback-signature.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { newTenantBudget } from './budget-items.ts'
import { putGrant } from './grant-credits.ts'
import { getTenant, type Tenant } from './tenant-store.ts'

type TenantToMake = {
  readonly id?: string
  readonly name: string
  readonly credits: Microcredits
  /** Video jobs that may be open at a time; null for no limit, as when left out. */
  readonly openJobsMax?: number | null
  /** Null for no budget, as when left out. */
  readonly budgetLimit?: BudgetLimit | null
}

/** Makes a tenant with a callback secret and a first grant, and reads it. @throws StoreRefusal `id_taken`. */
export async function makeTenant(
  table: Table,
  { id = uuidv7(), ...tenant }: TenantToMake,
  actor: Actor,
): Promise<Tenant> {
  const generated = { webhookSecret: createWebhookSecret(), grantId: uuidv7(), nowMilliseconds: Date.now() }
  await createTenant(table, { id, ...tenant, ...generated }, actor)
  return await getTenant(table, id)
}

type NewTenant = TenantToMake & {
  readonly id: string
  readonly webhookSecret: string
  /** Id of the first grant's ledger row. */
  readonly grantId: string
  readonly nowMilliseconds: number
}

/**
 * Makes a tenant with its first grant and the entry of the audit log, in one transaction.
 * @throws StoreRefusal `id_taken` when the id is taken; nothing was written.
 */
export async function createTenant(table: Table, tenant: NewTenant, actor: Actor): Promise<void> {
  const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }
  const { id, name, webhookSecret, credits, grantId, nowMilliseconds, openJobsMax = null, budgetLimit = null } = tenant
  const money = { available: credits, held: 0, spent: 0, granted: credits }
  const balance = { ...money, state: 'active', openJobs: 0, openJobsMax: openJobsMax ?? undefined }
  const budget = budgetLimit === null ? {} : newTenantBudget(id, budgetLimit, nowMilliseconds)
  try {
    await table.transact({
      tenant: { Put: { ...isNew, Item: { ...tableKeys.tenant(id), name, webhookSecret, createdAt: nowMilliseconds } } },
      balance: { Put: { ...isNew, Item: { ...tableKeys.balance(id), ...balance, ...budget } } },
      grant: putGrant(id, { grantId, credits, nowMilliseconds }),
      audit: auditEntry({
        actor,
        action: 'tenant create',
        target: { kind: 'tenant', id },
        before: null,
        after: {
          ...{ name, amount: formatCredits(credits), openJobs: openJobsMax },
          ...(budgetLimit === null ? {} : { budget: formatBudgetLimit(budgetLimit) }),
        },
        at: nowMilliseconds,
      }),
    })
  } catch (error) {
    throw error instanceof ConditionsNotMetError ? new StoreRefusal('id_taken', `tenant ${id} exists`) : error
  }
}
