import { type BudgetLimit, formatBudgetLimit } from '#core/budgets.ts'
import { isRatePerMinute, RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Item } from '../table/item-codec.ts'
import type { Condition, Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import type { ApiKeyListing } from './api-key-listing.ts'
import { type BudgetOfKey, readApiKeyRecord } from './api-key-record.ts'
import { endKey, type ReplacedApiKey, wholeSeconds } from './key-admin.ts'
import { isTenantInState, readTenantState } from './tenant-state.ts'

type NewApiKey = Pick<ApiKeyListing, 'keyId' | 'tenantId' | 'models' | 'createdAt'> & {
  readonly digest: string
  readonly name?: string | undefined
  /** Milliseconds. */
  readonly expiresAt?: number | undefined
  readonly ratePerMinute?: number | undefined
  /** The budget in which its requests count. A key that is stored again without one keeps the budget that it has. */
  readonly budget?: BudgetOfKey | undefined
  /** Stores that budget, if it is new. */
  readonly newBudget?: NewKeyBudget | undefined
  readonly replaces?: ReplacedApiKey | undefined
}

/** A budget that begins with a key. */
type NewKeyBudget = { readonly limit: BudgetLimit; readonly write: TableWrite }

/** Tries to store a key while its tenant is suspended or resumed. */
const TRIES_MAX = 5

/**
 * Stores a key by its digest, active, in one transaction with the entry of the audit log. Storing a key again makes it active again, with
 * the new limits, and writes nothing if it has them. The key of a suspended tenant is suspended too: the same transaction proves the
 * tenant's state, so that a suspension cannot miss a key that is made meanwhile.
 * @throws RangeError for a rate that no limit can keep.
 * @throws StoreRefusal `not_found`, `changed_meanwhile` when the key that it replaces does not exist, or was changed since it was read.
 */
export async function putApiKey(table: Table, key: NewApiKey, actor: Actor): Promise<void> {
  const { keyId, tenantId, digest, name, createdAt, replaces } = key
  requireRate(key.ratePerMinute)
  const ending = replaces === undefined ? {} : await endKey(table, replaces)
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const tenantState = await readTenantState(table, tenantId)
    const stored = await findStoredKey(table, key)
    if (stored?.isSame === true && replaces === undefined) {
      return
    }
    const record = { ...recordOf(key), ...stored?.next, suspended: tenantState === 'suspended' ? true : undefined }
    try {
      return await table.transact({
        tenant: { ConditionCheck: isTenantInState(tenantId, tenantState) },
        newKey: { Put: { Item: { ...tableKeys.apiKey(digest), ...record }, ...conditionFor(stored) } },
        newListing: { Put: { Item: { ...tableKeys.apiKeyListing(keyId), ...record, name, createdAt, digest } } },
        keyBudget: key.newBudget?.write,
        ...ending,
        audit: describePut(key, actor),
      })
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
      if (error.failed.has('keyBudget')) {
        throw error
      }
      if (error.failed.has('key') || error.failed.has('listing')) {
        throw new StoreRefusal('changed_meanwhile', `key ${replaces?.keyId} was changed meanwhile: nothing was done`)
      }
    }
  }
  throw new StoreRefusal(
    'changed_meanwhile',
    `tenant ${tenantId} is being suspended and resumed; the key was not stored`,
  )
}

/** @throws RangeError for a rate that no limit can keep. */
export function requireRate(ratePerMinute: number | null | undefined): void {
  if (typeof ratePerMinute === 'number' && !isRatePerMinute(ratePerMinute)) {
    throw new RangeError(`${ratePerMinute} requests per minute: use a whole number from 1 to ${RATE_PER_MINUTE_MAX}`)
  }
}

/** What requests read of a key. */
function recordOf({ keyId, tenantId, models, expiresAt, ratePerMinute, budget }: NewApiKey) {
  const seconds = expiresAt === undefined ? undefined : wholeSeconds(expiresAt)
  const counted = budget === undefined ? {} : { budgetId: budget.id, budgetPeriod: budget.kind }
  return { keyId, tenantId, models, state: 'active', expiresAt: seconds, ratePerMinute, ...counted }
}

/** The key as it is stored already, and what it becomes by being stored again. */
type StoredKey = {
  readonly isSame: boolean
  readonly revision: number | undefined
  /** A request that read the key before must not be served by its old limits. */
  readonly next: Item
}

async function findStoredKey(table: Table, key: NewApiKey): Promise<StoredKey | undefined> {
  const [record, listing] = await table.readItems([tableKeys.apiKey(key.digest), tableKeys.apiKeyListing(key.keyId)])
  if (record === undefined) {
    return undefined
  }
  const { revision, budget } = readApiKeyRecord(record, key.digest).caller
  const kept =
    key.budget === undefined && budget !== undefined ? { budgetId: budget.id, budgetPeriod: budget.kind } : {}
  const wanted = { ...recordOf(key), name: key.name }
  const isSame = Object.entries(wanted).every(
    ([field, value]) => JSON.stringify(value) === JSON.stringify({ ...record, name: listing?.name }[field]),
  )
  return { isSame, revision, next: { revision: (revision ?? 0) + 1, ...kept } }
}

/** Of two commands that store the same key at once, the later one reads what the earlier one stored. */
function conditionFor(stored: StoredKey | undefined): Condition {
  if (stored === undefined) {
    return { ConditionExpression: 'attribute_not_exists(PK)' }
  }
  return stored.revision === undefined
    ? { ConditionExpression: 'attribute_exists(PK) AND attribute_not_exists(revision)' }
    : { ConditionExpression: 'revision = :revision', ExpressionAttributeValues: { ':revision': stored.revision } }
}

function describePut({ replaces, newBudget, ...key }: NewApiKey, actor: Actor): TableWrite {
  const { keyId, tenantId, name = null, models, ratePerMinute = null, createdAt: at } = key
  return auditEntry(
    replaces === undefined
      ? {
          actor,
          action: 'key create',
          target: { kind: 'key', id: keyId, tenantId },
          before: null,
          after: { name, models, rate: ratePerMinute, expires: isoTime(key.expiresAt), ...budgetFields(newBudget) },
          at,
        }
      : {
          actor,
          action: 'key rotate',
          target: { kind: 'key', id: replaces.keyId, tenantId },
          before: { expires: isoTime(replaces.expiresAt) },
          after: { expires: isoTime(replaces.endsAt), replacedBy: keyId },
          at,
        },
  )
}

/** A key without a budget has no field for it. */
function budgetFields(budget: NewKeyBudget | undefined): AuditedFields {
  return budget === undefined ? {} : { budget: formatBudgetLimit(budget.limit) }
}

function isoTime(milliseconds: number | null | undefined): string | null {
  return typeof milliseconds === 'number' ? new Date(wholeSeconds(milliseconds) * 1000).toISOString() : null
}
