import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyListing, listApiKeys } from './api-key-listing.ts'
import { updateKey } from './key-admin.ts'
import { isTenantInState, type TenantState } from './tenant-state.ts'
import { TenantNotFoundError } from './tenant-store.ts'

/** Another command resumed the tenant while it was being suspended, or suspended it while it was being resumed. That command stands. */
export class TenantStateChangedError extends Error {
  override readonly name = 'TenantStateChangedError'
}

/**
 * Suspends a tenant: from its next request on, each of its keys is refused like a revoked one. Its running jobs and requests
 * end as usual, are billed, and send their callbacks. The balance is marked first, so that keys made from then on are suspended
 * too; then each key. Repeating it after a crash does the rest; otherwise repeating it changes nothing.
 * @throws TenantNotFoundError when there is no such tenant.
 * @throws TenantStateChangedError when another command resumed the tenant meanwhile.
 */
export async function suspendTenant(table: Table, tenantId: string): Promise<void> {
  await moveTenant(table, tenantId, 'suspended')
}

/**
 * Ends a suspension: keys that are neither revoked nor expired work from their next request on.
 * @throws TenantNotFoundError, TenantStateChangedError as {@link suspendTenant}.
 */
export async function resumeTenant(table: Table, tenantId: string): Promise<void> {
  await moveTenant(table, tenantId, 'active')
}

async function moveTenant(table: Table, tenantId: string, state: TenantState): Promise<void> {
  const { isWritten } = await table.updateItem({
    Key: tableKeys.balance(tenantId),
    UpdateExpression: 'SET #state = :state',
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeNames: { '#state': 'state' },
    ExpressionAttributeValues: { ':state': state },
  })
  if (!isWritten) {
    throw new TenantNotFoundError(`no tenant ${tenantId}`)
  }
  const isSuspended = state === 'suspended'
  for (const key of await listApiKeys(table)) {
    if (key.tenantId === tenantId && key.suspended !== isSuspended) {
      await markKey(table, key, state)
    }
  }
}

/** Marks one key while its tenant is still in the state of the mark, so that no mark outlives a later command. */
async function markKey(table: Table, { tenantId, keyId }: ApiKeyListing, state: TenantState): Promise<void> {
  const mark =
    state === 'suspended'
      ? { UpdateExpression: 'SET suspended = :true', ExpressionAttributeValues: { ':true': true } }
      : { UpdateExpression: 'REMOVE suspended' }
  try {
    await table.transact({
      tenant: { ConditionCheck: isTenantInState(tenantId, state) },
      ...(await updateKey(table, keyId, mark)),
    })
  } catch (error) {
    throw error instanceof ConditionsNotMetError
      ? new TenantStateChangedError(`tenant ${tenantId} is no longer ${state}: somebody changed it meanwhile`, {
          cause: error,
        })
      : error
  }
}
