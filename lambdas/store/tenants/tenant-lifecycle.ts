import { v7 as uuidv7 } from 'uuid'
import { type BudgetLimit, formatBudgetLimit } from '#core/budgets.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { createWebhookSecret } from '../../platform/callback-signature.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { newTenantBudget } from '../budgets.ts'
import { type ApiKeyListing, endPlaygroundKeys, listApiKeys, readPlaygroundKeys, updateKey } from '../keys/api-keys.ts'
import { isRefusal, StoreRefusal } from '../store-refusal.ts'
import { change, isStill } from '../table/expressions.ts'
import { type ConditionsNotMetError, type NamedWrites, type Table, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { putCreditEntry, readCreditEntry } from './credits.ts'
import {
  getTenant,
  isTenantInState,
  noTenant,
  readTenantState,
  type Suspension,
  type Tenant,
  type TenantState,
} from './tenants.ts'

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

/** Names the first grant of a tenant whose id was chosen, so that a repeat finds it. */
const FIRST_GRANT = 'first'

/**
 * The same once for each id: a repeat with the same name and the same first grant makes nothing, and reads the tenant as it is now.
 * @throws StoreRefusal `id_taken` for an id that was used for something else.
 */
export async function makeTenantOnce(
  table: Table,
  tenant: TenantToMake,
  actor: Actor,
): Promise<{ readonly tenant: Tenant; readonly isNew: boolean }> {
  const { id, name, credits } = tenant
  if (id === undefined) {
    return { tenant: await makeTenant(table, tenant, actor), isNew: true }
  }
  const generated = { webhookSecret: createWebhookSecret(), grantId: FIRST_GRANT, nowMilliseconds: Date.now() }
  try {
    await createTenant(table, { ...tenant, id, ...generated }, actor)
    return { tenant: await getTenant(table, id), isNew: true }
  } catch (error) {
    const made = isRefusal(error, 'id_taken') ? await getTenant(table, id) : undefined
    const granted = made && (await readCreditEntry(table, id, { kind: 'grant', id: FIRST_GRANT }))
    if (made?.name !== name || granted !== credits) {
      throw error
    }
    return { tenant: made, isNew: false }
  }
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
  const refusal = await tryTransact(table, {
    tenant: { Put: { ...isNew, Item: { ...tableKeys.tenant(id), name, webhookSecret, createdAt: nowMilliseconds } } },
    balance: { Put: { ...isNew, Item: { ...tableKeys.balance(id), ...balance, ...budget } } },
    grant: putCreditEntry(id, { kind: 'grant', id: grantId, amount: credits, at: nowMilliseconds }),
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
  if (refusal !== undefined) {
    throw new StoreRefusal('id_taken', `tenant ${id} exists`)
  }
}

/** Who suspends a tenant, and why. */
type SuspensionBy = { readonly actor: Actor; readonly reason?: string | undefined }

/**
 * Suspends a tenant: from its next request on, each of its keys is refused like a revoked one. Its running jobs and requests
 * end as usual, are billed, and send their callbacks. The balance is marked first, in one transaction with the record of the suspension and
 * the entry of the audit log, so that keys made from then on are suspended too; then each key. Repeating it after a crash does the rest;
 * otherwise repeating it changes nothing.
 * @throws StoreRefusal `not_found` when there is no such tenant.
 * @throws StoreRefusal `changed_meanwhile` when another command resumed the tenant meanwhile.
 */
export async function suspendTenant(table: Table, tenantId: string, by: SuspensionBy): Promise<void> {
  await moveTenant(table, { tenantId, state: 'suspended', ...by })
}

/**
 * Ends a suspension: keys that are neither revoked nor expired work from their next request on.
 * @throws StoreRefusal `not_found`, `changed_meanwhile` as {@link suspendTenant}.
 */
export async function resumeTenant(table: Table, tenantId: string, by: Pick<SuspensionBy, 'actor'>): Promise<void> {
  await moveTenant(table, { tenantId, state: 'active', ...by })
}

type Move = SuspensionBy & { readonly tenantId: string; readonly state: TenantState }

async function moveTenant(table: Table, move: Move): Promise<void> {
  const { tenantId, state } = move
  const refusal = await tryTransact(table, moveState(move, Date.now()))
  if (refusal !== undefined) {
    await requireState(table, move, refusal)
  }
  const isSuspended = state === 'suspended'
  for (const key of await listApiKeys(table)) {
    if (key.tenantId === tenantId && key.suspended !== isSuspended) {
      await markKey(table, key, state)
    }
  }
  if (isSuspended) {
    await endOwnersKeys(table, tenantId)
  }
}

/** The balance decides; the tenant's record says since when, by whom and why. */
function moveState({ tenantId, state, actor, reason }: Move, at: number): NamedWrites {
  const was: TenantState = state === 'suspended' ? 'active' : 'suspended'
  const suspension: Suspension = { at, by: actor.name, reason: reason ?? null }
  const record = state === 'suspended' ? { set: { suspension } } : { remove: ['suspension'] }
  return {
    balance: { Update: change(tableKeys.balance(tenantId), { set: { state } }, [isStill('state', was)]) },
    tenant: { Update: change(tableKeys.tenant(tenantId), record, ['attribute_exists(PK)']) },
    audit: auditEntry({
      actor,
      action: state === 'suspended' ? 'tenant suspend' : 'tenant resume',
      target: { kind: 'tenant', id: tenantId },
      before: { state: was },
      after: { state, ...(reason === undefined ? {} : { reason }) },
      at,
    }),
  }
}

/** A tenant that is in the state already was moved by an earlier run, whose keys may be unfinished. */
async function requireState(table: Table, { tenantId, state }: Move, refusal: ConditionsNotMetError): Promise<void> {
  const stored = refusal.failed.has('tenant') ? undefined : await readTenantState(table, tenantId)
  if (stored === undefined) {
    throw noTenant(tenantId, { cause: refusal })
  }
  if (stored !== state) {
    throw stateChanged(tenantId, state, refusal)
  }
}

function stateChanged(tenantId: string, state: TenantState, cause: Error): StoreRefusal {
  const message = `tenant ${tenantId} is no longer ${state}: somebody changed it meanwhile`
  return new StoreRefusal('changed_meanwhile', message, { cause })
}

/** Reads and writes while a playground key is made with the key. None is made once the tenant is suspended. */
const TRIES_MAX = 5

/**
 * Marks one key while its tenant is still in the state of the mark, so that no mark outlives a later command. The key of a subject that the table
 * has forgotten needs none: its next call makes it anew, in the state of the tenant.
 */
async function markKey(table: Table, { tenantId, keyId }: ApiKeyListing, state: TenantState): Promise<void> {
  const mark = state === 'suspended' ? { set: { suspended: true } } : { remove: ['suspended'] }
  for (let attempt = 1; ; attempt += 1) {
    const marking = await updateKey(table, keyId, mark).catch((error: unknown) => {
      if (isRefusal(error, 'not_found')) {
        return undefined
      }
      throw error
    })
    if (marking === undefined) {
      return
    }
    const refusal = await tryTransact(table, {
      tenant: { ConditionCheck: isTenantInState(tenantId, state) },
      ...marking,
    })
    if (refusal === undefined) {
      return
    }
    if (refusal.failed.has('tenant') || attempt === TRIES_MAX) {
      throw stateChanged(tenantId, state, refusal)
    }
  }
}

/** Ends the keys that owners made for the playground. None is made once the tenant is suspended. */
async function endOwnersKeys(table: Table, tenantId: string): Promise<void> {
  const { keys } = readPlaygroundKeys(await table.readItem(tableKeys.tenant(tenantId)))
  const ended = endPlaygroundKeys(keys, Date.now())
  if (Object.keys(ended).length > 0) {
    await table.transact(ended)
  }
}
