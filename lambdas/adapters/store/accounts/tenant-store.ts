import * as z from 'zod/mini'
import { formatCredits, type Microcredits, microcredits } from '#core/money/money.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import { queryPartition } from '../table/query-items.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import type { TenantState } from './tenant-state.ts'

/** A tenant as an operator sees it. Amounts in microcredits. */
export type Tenant = {
  readonly id: string
  readonly name: string
  readonly webhookSecret: string
  readonly state: TenantState
  readonly openJobs: OpenJobs
  readonly balance: Balance
}

/** Open video jobs of a tenant, and how many it may have at a time; null for as many as it can pay for. */
type OpenJobs = { readonly count: number; readonly max: number | null }

/** A tenant in a list: without the secret that its callbacks are signed with. */
export type TenantListing = Omit<Tenant, 'webhookSecret'>

/** available + held + spent = granted, always. */
type Balance = {
  readonly available: Microcredits
  readonly held: Microcredits
  readonly spent: Microcredits
  readonly granted: Microcredits
}

/** The id is taken. */
export class TenantExistsError extends Error {
  override readonly name = 'TenantExistsError'
}

/** No tenant has this id. */
export class TenantNotFoundError extends Error {
  override readonly name = 'TenantNotFoundError'
}

/** The ledger already has a grant with this id and another amount. */
export class GrantIdTakenError extends Error {
  override readonly name = 'GrantIdTakenError'
}

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))
const tenantItem = z.object({ SK: z.string(), name: z.string(), webhookSecret: z.string() })
const balanceItem = z.object({
  available: amount,
  held: amount,
  spent: amount,
  granted: amount,
  state: z.enum(['active', 'suspended']),
  openJobs: z._default(z.number(), 0),
  openJobsMax: z._default(z.nullable(z.number()), null),
})

type NewTenant = {
  readonly id: string
  readonly name: string
  readonly webhookSecret: string
  readonly credits: Microcredits
  /** Video jobs that may be open at a time; null for no limit, as when left out. */
  readonly openJobsMax?: number | null
  /** Id of the first grant's ledger row. */
  readonly grantId: string
  readonly nowMilliseconds: number
}

/**
 * Makes a tenant with its first grant, in one transaction.
 * @throws TenantExistsError when the id is taken; nothing was written.
 */
export async function createTenant(table: Table, tenant: NewTenant): Promise<void> {
  const isNew = { ConditionExpression: 'attribute_not_exists(PK)' }
  const { id, name, webhookSecret, credits, grantId, nowMilliseconds } = tenant
  const limit = tenant.openJobsMax ?? undefined
  const money = { available: credits, held: 0, spent: 0, granted: credits }
  const balance = { ...money, state: 'active', openJobs: 0, openJobsMax: limit }
  try {
    await table.transact({
      tenant: { Put: { ...isNew, Item: { ...tableKeys.tenant(id), name, webhookSecret, createdAt: nowMilliseconds } } },
      balance: { Put: { ...isNew, Item: { ...tableKeys.balance(id), ...balance } } },
      grant: { Put: { ...isNew, Item: grantRow(id, { grantId, credits, nowMilliseconds }) } },
    })
  } catch (error) {
    throw error instanceof ConditionsNotMetError ? new TenantExistsError(`tenant ${id} exists`) : error
  }
}

/**
 * Adds credits to a tenant: ledger row and balance in one transaction. Repeating a grant with its id adds nothing.
 * @returns false when this grant was made before.
 * @throws TenantNotFoundError when there is no such tenant; GrantIdTakenError when the id was used for another amount.
 */
export async function grantCredits(
  table: Table,
  tenantId: string,
  grant: { grantId: string; credits: Microcredits; nowMilliseconds: number },
): Promise<boolean> {
  const raise = {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET available = available + :credits, granted = granted + :credits',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: { ':credits': grant.credits },
  }
  const row = { ConditionExpression: 'attribute_not_exists(PK)', Item: grantRow(tenantId, grant) }
  try {
    await table.transact({ balance: { Update: raise }, grant: { Put: row } })
    return true
  } catch (error) {
    if (!(error instanceof ConditionsNotMetError)) {
      throw error
    }
    if (error.failed.has('balance')) {
      throw new TenantNotFoundError(`no tenant ${tenantId}`, { cause: error })
    }
    await requireSameGrant(table, tenantId, grant)
    return false
  }
}

async function requireSameGrant(
  table: Table,
  tenantId: string,
  { grantId, credits }: { grantId: string; credits: Microcredits },
): Promise<void> {
  const row = await table.readItem(tableKeys.ledgerGrant(tenantId, grantId))
  const made = amount.parse(row?.amount)
  if (made !== credits) {
    throw new GrantIdTakenError(`grant ${grantId} of tenant ${tenantId} was made with ${formatCredits(made)} credits`)
  }
}

function grantRow(tenantId: string, grant: { grantId: string; credits: Microcredits; nowMilliseconds: number }) {
  return {
    ...tableKeys.ledgerGrant(tenantId, grant.grantId),
    kind: 'grant',
    amount: grant.credits,
    at: grant.nowMilliseconds,
  }
}

/**
 * Reads a tenant with its balance, strongly consistent.
 * @throws TenantNotFoundError when there is no such tenant.
 */
export async function getTenant(table: Table, tenantId: string): Promise<Tenant> {
  const [tenant, balance] = await Promise.all([
    table.readItem(tableKeys.tenant(tenantId)),
    table.readItem(tableKeys.balance(tenantId)),
  ])
  if (tenant === undefined || balance === undefined) {
    throw new TenantNotFoundError(`no tenant ${tenantId}`)
  }
  const { SK: id, name, webhookSecret } = tenantItem.parse(tenant)
  return { id, name, webhookSecret, ...readBalance(balance) }
}

/** Reads the item of a tenant's balance. @throws ZodError for an item that this service did not write. */
export function readBalance(item: unknown): Pick<Tenant, 'state' | 'openJobs' | 'balance'> {
  const { state, openJobs, openJobsMax, ...balance } = balanceItem.parse(item)
  return { state, openJobs: { count: openJobs, max: openJobsMax }, balance }
}

/**
 * Every tenant, each by strongly consistent reads. A tenant without a balance, which only a partly restored table can have, is
 * left out: `ledger verify` reports it.
 */
export async function listTenants(table: Table): Promise<TenantListing[]> {
  const tenants: TenantListing[] = []
  for await (const item of queryPartition(table, tableKeys.tenant('').PK)) {
    const { SK: id, name } = tenantItem.parse(item)
    const balance = await table.readItem(tableKeys.balance(id))
    if (balance !== undefined) {
      tenants.push({ id, name, ...readBalance(balance) })
    }
  }
  return tenants
}

/** Ids of all tenants. */
export async function listTenantIds(table: Table): Promise<string[]> {
  const ids: string[] = []
  for await (const item of queryPartition(table, tableKeys.tenant('').PK)) {
    ids.push(tenantItem.parse(item).SK)
  }
  return ids
}
