import * as z from 'zod/mini'
import type { Budget } from '#core/budgets.ts'
import type { Microcredits } from '#core/money.ts'
import { USER_KEEPINGS, type UserKeeping } from '#core/named-users.ts'
import { readTenantBudget } from '../budgets.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { storedAmount } from '../table/attributes.ts'
import { type ConditionCheck, queryItems, queryPartition, type Table } from '../table/table.ts'
import { isSortKey, tableKeys } from '../table/table-keys.ts'

/** A tenant as an operator sees it. Amounts in microcredits. */
export type Tenant = {
  readonly id: string
  readonly name: string
  readonly webhookSecret: string
  readonly state: TenantState
  /** Unix milliseconds. */
  readonly createdAt: number
  /** How users that requests name are counted; undefined for not at all. */
  readonly users?: Exclude<UserKeeping, 'off'> | undefined
  /** Null for an active tenant. */
  readonly suspension: Suspension | null
  readonly openJobs: OpenJobs
  readonly balance: Balance
  /** As stored: its period may have ended. Null without one. */
  readonly budget: Budget | null
}

/** Since when a tenant is suspended, in Unix milliseconds, by whom, and why if a reason was given. */
export type Suspension = { readonly at: number; readonly by: string; readonly reason: string | null }

/** Open video jobs of a tenant, and how many it may have at a time; null for as many as it can pay for. */
type OpenJobs = { readonly count: number; readonly max: number | null }

/** A tenant in a list: without the secret that its callbacks are signed with. */
export type TenantListing = Omit<Tenant, 'webhookSecret'>

/** What the record of a tenant says, without its callback secret. */
type TenantRecord = Pick<Tenant, 'id' | 'name' | 'suspension' | 'createdAt'>

/** available + held + spent = granted, always. */
type Balance = {
  readonly available: Microcredits
  readonly held: Microcredits
  readonly spent: Microcredits
  readonly granted: Microcredits
}

const tenantItem = z.object({
  SK: z.string(),
  name: z.string(),
  webhookSecret: z.string(),
  createdAt: z.number(),
  suspension: z._default(
    z.nullable(z.object({ at: z.number(), by: z.string(), reason: z.nullable(z.string()) })),
    null,
  ),
})
const balanceItem = z.object({
  available: storedAmount,
  held: storedAmount,
  spent: storedAmount,
  granted: storedAmount,
  state: z.enum(['active', 'suspended']),
  openJobs: z.number(),
  openJobsMax: z._default(z.nullable(z.number()), null),
  // Here, because functions that relay may not read the record of a tenant, which holds its callback secret.
  userKeeping: z.optional(z.enum(USER_KEEPINGS.filter((keeping) => keeping !== 'off'))),
})

/** The refusal of a change, or a read, of a tenant that does not exist. */
export function noTenant(tenantId: string, options?: ErrorOptions): StoreRefusal {
  return new StoreRefusal('not_found', `no tenant ${tenantId}`, options)
}

/**
 * Reads a tenant with its balance, strongly consistent.
 * @throws StoreRefusal `not_found` when there is no such tenant.
 */
export async function getTenant(table: Table, tenantId: string): Promise<Tenant> {
  const [tenant, balance] = await Promise.all([
    table.readItem(tableKeys.tenant(tenantId)),
    table.readItem(tableKeys.balance(tenantId)),
  ])
  if (tenant === undefined || balance === undefined) {
    throw noTenant(tenantId)
  }
  const { SK: id, ...rest } = tenantItem.parse(tenant)
  return { id, ...rest, ...readBalance(balance) }
}

/** Reads the record of a tenant from its item. @throws ZodError for an item that this service did not write. */
export function readTenantRecord(item: unknown): TenantRecord {
  const { SK: id, webhookSecret: _, ...record } = tenantItem.parse(item)
  return { id, ...record }
}

/** Reads the item of a tenant's balance. @throws ZodError for an item that this service did not write. */
export function readBalance(item: unknown): Pick<Tenant, 'state' | 'openJobs' | 'balance' | 'budget' | 'users'> {
  const { state, openJobs, openJobsMax, userKeeping: users, ...balance } = balanceItem.parse(item)
  const budget = readTenantBudget(Object(item)) ?? null
  const kept = users === undefined ? {} : { users }
  return { state, openJobs: { count: openJobs, max: openJobsMax }, balance, budget, ...kept }
}

/**
 * Every tenant, each by strongly consistent reads. A tenant without a balance, which only a partly restored table can have, is
 * left out: `ledger verify` reports it.
 */
export async function listTenants(table: Table): Promise<TenantListing[]> {
  const tenants: TenantListing[] = []
  for await (const item of queryPartition(table, tableKeys.tenant('').PK)) {
    const record = readTenantRecord(item)
    const balance = await table.readItem(tableKeys.balance(record.id))
    if (balance !== undefined) {
      tenants.push({ ...record, ...readBalance(balance) })
    }
  }
  return tenants
}

/** Id and name of a tenant by its id; undefined if there is no such tenant. */
export async function readTenantName(
  table: Pick<Table, 'readItem'>,
  tenantId: string,
): Promise<Pick<Tenant, 'id' | 'name'> | undefined> {
  const item = isSortKey(tenantId) ? await table.readItem(tableKeys.tenant(tenantId)) : undefined
  return item === undefined ? undefined : { id: tenantId, name: tenantItem.parse(item).name }
}

/** Id and name of a tenant by its id, or by a name that no other tenant has; undefined if there is none, or more than one. */
export async function findNamedTenant(
  table: Pick<Table, 'readItem' | 'queryPage'>,
  idOrName: string,
): Promise<Pick<Tenant, 'id' | 'name'> | undefined> {
  const withId = await readTenantName(table, idOrName)
  const [found, ...others] = withId === undefined ? await tenantsNamed(table, idOrName) : [withId]
  return others.length === 0 ? found : undefined
}

/** Every tenant with this name. */
export async function tenantsNamed(
  table: Pick<Table, 'queryPage'>,
  name: string,
): Promise<Pick<Tenant, 'id' | 'name'>[]> {
  return (await listTenantNames(table)).filter((tenant) => tenant.name === name)
}

/** Ids of all tenants. */
export async function listTenantIds(table: Table): Promise<string[]> {
  return (await listTenantNames(table)).map(({ id }) => id)
}

const namedItem = z.object({ SK: z.string(), name: z.string() })

/** Ids and names of all tenants, sorted by id. Functions that take tokens may read nothing else of tenants. */
export async function listTenantNames(table: Pick<Table, 'queryPage'>): Promise<Pick<Tenant, 'id' | 'name'>[]> {
  const items = queryItems(table, {
    KeyConditionExpression: 'PK = :pk',
    ExpressionAttributeValues: { ':pk': tableKeys.tenant('').PK },
    ProjectionExpression: 'SK, #name',
    ExpressionAttributeNames: { '#name': 'name' },
    // The policy looks at it, so it is said and not left to the projection.
    Select: 'SPECIFIC_ATTRIBUTES',
    ConsistentRead: true,
  })
  return await Array.fromAsync(items, (item) => {
    const { SK: id, name } = namedItem.parse(item)
    return { id, name }
  })
}

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
