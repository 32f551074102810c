import { ConditionsNotMetError } from '../table/cancelled-transaction.ts'
import { conditionalUpdate } from '../table/conditional-update.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { transact } from '../table/transaction.ts'
import { type ApiKeyListing, listApiKeys, updateKey } from './key-admin.ts'
import { isTenantInState, type TenantState } from './tenant-state.ts'
import { TenantNotFoundError } from './tenant-store.ts'

/** Somebody resumed the tenant while it was being suspended, or the other way round: what they did stays. */
export class TenantStateChangedError extends Error {
  override readonly name = 'TenantStateChangedError'
}

/**
 * Suspends a tenant: from its next request on, each of its keys is refused like a revoked one. What it has running ends as
 * ever, is billed and told. The balance comes first, so that keys made from then on are suspended too; then each key. After
 * a crash in the middle, doing it again does the rest; done to the end, doing it again changes nothing.
 * @throws TenantNotFoundError when there is no such tenant.
 * @throws TenantStateChangedError when the tenant was resumed meanwhile.
 */
export async function suspendTenant(table: Table, tenantId: string): Promise<void> {
  await moveTenant(table, tenantId, 'suspended')
}

/**
 * Takes a suspension back: keys that were neither revoked nor have expired work from their next request on.
 * @throws TenantNotFoundError, TenantStateChangedError as {@link suspendTenant}.
 */
export async function resumeTenant(table: Table, tenantId: string): Promise<void> {
  await moveTenant(table, tenantId, 'active')
}

async function moveTenant(table: Table, tenantId: string, state: TenantState): Promise<void> {
  const balance = await conditionalUpdate(table, {
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET #state = :state',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':state': state },
  })
  if (balance === undefined) {
    throw new TenantNotFoundError(`no tenant ${tenantId}`)
  }
  const isSuspended = state === 'suspended'
  for (const key of await listApiKeys(table)) {
    if (key.tenantId === tenantId && key.suspended !== isSuspended) {
      await markKey(table, key, state)
    }
  }
}

/** One key, as long as its tenant is still in the state that the mark stands for: no mark outlives a later command. */
async function markKey(table: Table, { tenantId, keyId }: ApiKeyListing, state: TenantState): Promise<void> {
  const mark =
    state === 'suspended'
      ? { UpdateExpression: 'SET suspended = :true', ExpressionAttributeValues: { ':true': true } }
      : { UpdateExpression: 'REMOVE suspended' }
  try {
    await transact(table, [
      { ConditionCheck: { TableName: table.name, ...isTenantInState(tenantId, state) } },
      ...(await updateKey(table, keyId, mark)),
    ])
  } catch (error) {
    throw error instanceof ConditionsNotMetError
      ? new TenantStateChangedError(`tenant ${tenantId} is no longer ${state}: somebody changed it meanwhile`, {
          cause: error,
        })
      : error
  }
}
