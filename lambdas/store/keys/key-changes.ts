import { formatApiKey, keyIdOf } from '#core/api-key.ts'
import { type Budget, type BudgetLimit, formatBudgetLimit, periodAt } from '#core/budgets.ts'
import { isRatePerMinute, RATE_PER_MINUTE_MAX } from '#core/limits.ts'
import { formatCredits, ZERO } from '#core/money.ts'
import { randomBase62, sha256Hex } from '../../platform/crypto.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { putKeyBudget } from '../budgets.ts'
import { type BudgetOfKey, nameBudget, readApiKeyRecord } from '../callers.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { allOf, change, isStill } from '../table/expressions.ts'
import { type Condition, type Item, type ItemUpdate, type Table, type TableWrite, tryTransact } from '../table/table.ts'
import { type TableKey, tableKeys } from '../table/table-keys.ts'
import { isTenantInState, readTenantState } from '../tenants/tenants.ts'
import {
  type ApiKeyListing,
  endKey,
  endPlaygroundKeys,
  getApiKey,
  hasNoNewPlaygroundKey,
  type PlaygroundKeys,
  type ReplacedApiKey,
  wholeSeconds,
} from './api-keys.ts'

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
 * @throws StoreRefusal `not_found`, `changed_meanwhile` when the key that it replaces does not exist, or was changed since it was read;
 *   `id_taken` when another key has the id.
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
    const refusal = await tryTransact(table, {
      tenant: { ConditionCheck: isTenantInState(tenantId, tenantState) },
      newKey: { Put: { Item: { ...tableKeys.apiKey(digest), ...record }, ...conditionFor(stored) } },
      newListing: {
        Put: {
          Item: { ...tableKeys.apiKeyListing(keyId), ...record, name, createdAt, digest },
          ...(stored === undefined ? { ConditionExpression: 'attribute_not_exists(PK)' } : {}),
        },
      },
      keyBudget: key.newBudget?.write,
      ...ending,
      audit: describePut(key, actor),
    })
    if (refusal === undefined) {
      return
    }
    if (refusal.failed.has('newListing')) {
      throw new StoreRefusal('id_taken', `key ${keyId} exists`)
    }
    if (refusal.failed.has('keyBudget')) {
      throw refusal
    }
    if (refusal.failed.has('key') || refusal.failed.has('listing')) {
      throw new StoreRefusal('changed_meanwhile', `key ${replaces?.keyId} was changed meanwhile: nothing was done`)
    }
  }
  throw new StoreRefusal(
    'changed_meanwhile',
    `tenant ${tenantId} is being suspended and resumed; the key was not stored`,
  )
}

/** @throws RangeError for a rate that no limit can keep. */
function requireRate(ratePerMinute: number | null | undefined): void {
  if (typeof ratePerMinute === 'number' && !isRatePerMinute(ratePerMinute)) {
    throw new RangeError(`${ratePerMinute} requests per minute: use a whole number from 1 to ${RATE_PER_MINUTE_MAX}`)
  }
}

/** What requests read of a key. */
function recordOf({ keyId, tenantId, models, expiresAt, ratePerMinute, budget }: NewApiKey) {
  const seconds = expiresAt === undefined ? undefined : wholeSeconds(expiresAt)
  return { keyId, tenantId, models, state: 'active', expiresAt: seconds, ratePerMinute, ...nameBudget(budget) }
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
  const kept = key.budget === undefined ? nameBudget(budget) : {}
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
  return allOf(['attribute_exists(PK)', isStill('revision', stored.revision)])
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

const KEY_ID_CHARACTERS = 8
const SECRET_CHARACTERS = 32

/** A new API key, with 190 random bits in its secret. @param keyId 8 letters and digits; random when left out. */
export function generateApiKey(keyId = randomBase62(KEY_ID_CHARACTERS)): string {
  return formatApiKey(keyId, randomBase62(SECRET_CHARACTERS))
}

type KeyToStore = {
  readonly key: string
  readonly tenantId: string
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** The operator's name for the key. */
  readonly name?: string | undefined
  /** Unix milliseconds, rounded down to whole seconds; undefined for a key that does not expire. */
  readonly expiresAt?: number | undefined
  /** Requests per minute, at least 1; undefined for no limit. */
  readonly ratePerMinute?: number | undefined
  /** Begins a budget with the key. */
  readonly budgetLimit?: BudgetLimit | undefined
  /** A budget that other keys have too. */
  readonly budget?: BudgetOfKey | undefined
  readonly replaces?: ReplacedApiKey | undefined
}

/**
 * Stores a key by its digest; the key itself is stored nowhere. The key of a suspended tenant is suspended too. A key that is stored
 * already with the same limits stays as it is.
 * @returns its public id.
 * @throws RangeError for a rate that is not a whole number from 1 to 60,000.
 * @throws StoreRefusal `not_found`, `changed_meanwhile` for the key that it replaces; `id_taken` when another key has the id.
 */
export async function storeApiKey(
  table: Table,
  { key, budgetLimit, ...rest }: KeyToStore,
  actor: Actor,
): Promise<string> {
  const digest = sha256Hex(key)
  const keyId = keyIdOf(key) ?? digest.slice(0, KEY_ID_CHARACTERS)
  const createdAt = Date.now()
  const begun =
    budgetLimit === undefined ? {} : beginBudget({ tenantId: rest.tenantId, keyId, limit: budgetLimit, createdAt })
  await putApiKey(table, { ...rest, ...begun, keyId, digest, createdAt }, actor)
  return keyId
}

type Beginning = {
  readonly tenantId: string
  readonly keyId: string
  readonly limit: BudgetLimit
  readonly createdAt: number
}

/** The budget of a new key has the key's id. */
function beginBudget({ tenantId, keyId, limit, createdAt }: Beginning) {
  const { amount, kind } = limit
  const budget = { amount, period: periodAt(kind, createdAt), spent: ZERO, held: ZERO, left: amount, free: amount }
  return { budget: { id: keyId, kind }, newBudget: { limit, write: putKeyBudget(tenantId, keyId, budget) } }
}

/** What can be changed of a key. A field that is left out stays as it is; null removes a limit or the name. */
export type KeySettings = {
  readonly name?: string | null
  readonly models?: readonly string[] | null
  readonly ratePerMinute?: number | null
  /** Unix milliseconds, on a whole second. */
  readonly expiresAt?: number | null
  /** Plans another budget, or none. */
  readonly budget?: PlanKeyBudget
}

/** Plans the change of a budget for a key as it is stored now. Called again if the key or the budget changes meanwhile. */
export type PlanKeyBudget = (key: ApiKeyListing) => Promise<PlannedKeyBudget>

/** A change of the budget of a key. */
export type PlannedKeyBudget = {
  /** The budget that the key is to name; null for none. */
  readonly budget: BudgetOfKey | null
  /** Changes the item of the budget; undefined if the item stays as it is. */
  readonly write: TableWrite | undefined
  readonly before: BudgetLimit | null
  readonly after: BudgetLimit | null
  /** What is spent and held in it, where that was counted anew; `before` is undefined for a budget that was missing. */
  readonly recount?: { readonly before: Counts | undefined; readonly after: Counts } | undefined
}

type Counts = Pick<Budget, 'spent' | 'held'>

/**
 * Changes a key, in one transaction with its entry of the audit log. The change raises the revision of the key, which every reservation
 * proves, so that it holds at the next request. Nothing is written if nothing changes.
 * @returns the key as it is now, and whether it was changed.
 * @throws RangeError for a rate that no limit can keep. @throws StoreRefusal `not_found`, `key_unusable`.
 * @throws StoreRefusal `changed_meanwhile` if other commands keep changing the key.
 */
export async function setApiKey(
  table: Table,
  { keyId, settings, actor }: { readonly keyId: string; readonly settings: KeySettings; readonly actor: Actor },
): Promise<{ readonly key: ApiKeyListing; readonly isChanged: boolean }> {
  requireRate(settings.ratePerMinute)
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const { listing, digest, playground } = await getApiKey(table, keyId)
    const { revision } = listing
    if (listing.state === 'revoked') {
      throw new StoreRefusal('key_unusable', 'the key is revoked, which is final: create a new one')
    }
    const planned = await settings.budget?.(listing)
    const changes = [...changesOf(listing, settings), ...budgetChanges(listing.budget, planned)]
    if (changes.length === 0 && planned?.write === undefined) {
      return { key: listing, isChanged: false }
    }
    const refusal = await tryTransact(table, {
      key: { Update: updateOf(tableKeys.apiKey(digest), changes.filter(isRead), revision) },
      listing: { Update: updateOf(tableKeys.apiKeyListing(keyId), changes, revision, playground) },
      ...endPlaygroundKeys(playground.keys, Date.now()),
      keyBudget: planned?.write,
      audit: auditEntry({
        actor,
        action: 'key set',
        target: { kind: 'key', id: keyId, tenantId: listing.tenantId },
        before: { ...shownFields(changes, listing), ...shownBudget(planned, 'before') },
        after: { ...shownFields(changes, { ...listing, ...settings }), ...shownBudget(planned, 'after') },
        at: Date.now(),
      }),
    })
    if (refusal === undefined) {
      return { key: (await getApiKey(table, keyId)).listing, isChanged: true }
    }
  }
  throw new StoreRefusal('changed_meanwhile', `key ${keyId} is being changed by other commands: nothing was done`)
}

/** One attribute with its new value; undefined removes it. */
type Change = {
  readonly attribute:
    | 'name'
    | 'models'
    | 'ratePerMinute'
    | 'expiresAt'
    | 'endBeforeReplacement'
    | 'budgetId'
    | 'budgetPeriod'
  readonly value: unknown
}

/** The attributes that get another value than the stored one. Both items of a key have them, but for those of {@link ONLY_LISTED}. */
function changesOf(listing: ApiKeyListing, settings: KeySettings): readonly Change[] {
  const { name, models, ratePerMinute, expiresAt } = settings
  const isOther = (value: unknown, stored: unknown) =>
    value !== undefined && JSON.stringify(value) !== JSON.stringify(stored)
  const changes: Change[] = []
  if (isOther(name, listing.name)) {
    changes.push({ attribute: 'name', value: name ?? undefined })
  }
  if (isOther(models, listing.models)) {
    // Null stands for all models; an item without this attribute would be broken.
    changes.push({ attribute: 'models', value: models })
  }
  if (isOther(ratePerMinute, listing.ratePerMinute)) {
    changes.push({ attribute: 'ratePerMinute', value: ratePerMinute ?? undefined })
  }
  if (expiresAt !== undefined && expiresAt !== listing.expiresAt) {
    const seconds = expiresAt === null ? null : wholeSeconds(expiresAt)
    changes.push({ attribute: 'expiresAt', value: seconds ?? undefined })
    if (listing.endBeforeReplacement !== undefined) {
      // A later rotation gives the new key the lifetime that is set here.
      changes.push({ attribute: 'endBeforeReplacement', value: seconds })
    }
  }
  return changes
}

function budgetChanges(stored: BudgetOfKey | null, planned: PlannedKeyBudget | undefined): readonly Change[] {
  if (planned === undefined || (planned.budget?.id === stored?.id && planned.budget?.kind === stored?.kind)) {
    return []
  }
  return [
    { attribute: 'budgetId', value: planned.budget?.id },
    { attribute: 'budgetPeriod', value: planned.budget?.kind },
  ]
}

/** Attributes that requests do not read. */
const ONLY_LISTED: readonly Change['attribute'][] = ['name', 'endBeforeReplacement']

function isRead({ attribute }: Change): boolean {
  return !ONLY_LISTED.includes(attribute)
}

/** Changes attributes and raises the revision, if the key still has the revision that was read and is not revoked. */
function updateOf(
  key: TableKey,
  changes: readonly Change[],
  revision: number | undefined,
  playground?: PlaygroundKeys,
): ItemUpdate {
  const set = Object.fromEntries(changes.map(({ attribute, value }) => [attribute, value]))
  const remove = changes.filter(({ value }) => value === undefined).map(({ attribute }) => attribute)
  return change(key, { set: { ...set, revision: (revision ?? 0) + 1 }, remove }, [
    isStill('state', 'active'),
    isStill('revision', revision),
    ...(playground === undefined ? [] : [hasNoNewPlaygroundKey(playground)]),
  ])
}

function shownBudget(planned: PlannedKeyBudget | undefined, when: 'before' | 'after'): AuditedFields {
  const limit = planned?.[when]
  const counts = planned?.recount?.[when]
  return {
    ...(limit === undefined ? {} : { budget: limit === null ? null : formatBudgetLimit(limit) }),
    ...(counts && { spent: formatCredits(counts.spent), held: formatCredits(counts.held) }),
  }
}

type Shown = Pick<ApiKeyListing, 'name' | 'models' | 'ratePerMinute' | 'expiresAt'>

/** The changed fields, as the audit log shows them. */
function shownFields(changes: readonly Change[], { name, models, ratePerMinute, expiresAt }: Shown): AuditedFields {
  const isChanged = (sought: Change['attribute']) => changes.some(({ attribute }) => attribute === sought)
  return {
    ...(isChanged('name') ? { name } : {}),
    ...(isChanged('models') ? { models } : {}),
    ...(isChanged('ratePerMinute') ? { rate: ratePerMinute } : {}),
    ...(isChanged('expiresAt') ? { expires: expiresAt === null ? null : new Date(expiresAt).toISOString() } : {}),
  }
}
