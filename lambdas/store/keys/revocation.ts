import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { change, isStill } from '../table/expressions.ts'
import { type Table, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyListing, getApiKey, listApiKeys, updateKey } from './api-keys.ts'
import { keptUntil } from './subject-keys.ts'

/** Reads and writes while playground keys are made with the key. */
const TRIES_MAX = 5

/**
 * Revokes a key, in one transaction with its listing, its playground keys and the entry of the audit log: its next request is refused, and
 * so is a reservation that is under way. Its budget needs nobody from then on, unless a replacement still spends it. A key that is revoked
 * already stays as it is.
 * @throws StoreRefusal `not_found` when no key has this id.
 * @throws StoreRefusal `changed_meanwhile` if playground keys are made with it all the time.
 */
export async function revokeApiKey(table: Table, keyId: string, actor: Actor): Promise<void> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { listing } = await getApiKey(table, keyId)
    // Another command, or an earlier try of this one, may have revoked the key meanwhile.
    if (listing.state === 'revoked' || (await tryRevoke(table, listing, actor)) === undefined) {
      return await stopWatchingBudget(table, listing)
    }
  }
  throw new StoreRefusal('changed_meanwhile', `key ${keyId} is being changed by others: nothing was done`)
}

async function tryRevoke(table: Table, { keyId, tenantId, identity }: ApiKeyListing, actor: Actor) {
  // A revoked subject that is forgotten could call again.
  const remove = identity === undefined ? [] : ['ttl']
  const revocation = await updateKey(table, keyId, { set: { state: 'revoked' }, remove }, [isStill('state', 'active')])
  const target = { kind: 'key', id: keyId, tenantId } as const
  const [before, after] = [{ state: 'active' }, { state: 'revoked' }]
  const audit = auditEntry({ actor, action: 'key revoke', target, before, after, at: Date.now() })
  return await tryTransact(table, { ...revocation, audit })
}

/**
 * Takes the budget of a revoked API key out of the watched ones, if no other key spends it. Not in the transaction of the revocation, which
 * must not wait for a budget that requests move all the time; a revoked key gets no replacement that would go on with it. The budgets of
 * subjects stay: a subject can be restored, and others may share the budget.
 */
async function stopWatchingBudget(table: Table, { keyId, budget, identity }: ApiKeyListing): Promise<void> {
  if (budget === null || identity !== undefined) {
    return
  }
  const isSpentBy = (other: ApiKeyListing) =>
    other.keyId !== keyId && other.state === 'active' && other.budget?.id === budget.id
  const key = tableKeys.keyBudget(budget.id)
  if (!(await listApiKeys(table)).some(isSpentBy) && (await table.readItem(key)) !== undefined) {
    await table.updateItem(change(key, { remove: ['GSI1PK', 'GSI1SK'] }))
  }
}

/**
 * Lets the subject of an issuer call again, whose key was revoked: in one transaction with the entry of the audit log. A key that is not revoked
 * stays as it is.
 * @throws StoreRefusal `not_found`, `key_unusable` for an API key, which stays revoked; `changed_meanwhile`.
 */
export async function restoreSubjectKey(table: Table, keyId: string, actor: Actor): Promise<void> {
  const { tenantId, state, identity } = (await getApiKey(table, keyId)).listing
  if (identity === undefined) {
    throw new StoreRefusal('key_unusable', `key ${keyId} is an API key, whose revocation is final: create a new one`)
  }
  if (state === 'active') {
    return
  }
  const restoring = await updateKey(table, keyId, { set: { state: 'active', ttl: keptUntil(Date.now()) } }, [
    isStill('state', 'revoked'),
  ])
  const target = { kind: 'key', id: keyId, tenantId } as const
  const [before, after] = [{ state: 'revoked' }, { state: 'active' }]
  const audit = auditEntry({ actor, action: 'key restore', target, before, after, at: Date.now() })
  if ((await tryTransact(table, { ...restoring, audit })) !== undefined) {
    throw new StoreRefusal('changed_meanwhile', `key ${keyId} is being changed by others: nothing was done`)
  }
}
