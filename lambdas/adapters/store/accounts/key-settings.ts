import { type BudgetLimit, formatBudgetLimit } from '#core/budgets.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { ItemUpdate, Table, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type ApiKeyListing, getApiKey } from './api-key-listing.ts'
import type { BudgetOfKey } from './api-key-record.ts'
import { wholeSeconds } from './key-admin.ts'
import { endPlaygroundKeys, hasNoNewPlaygroundKey, type PlaygroundKeys } from './playground-keys.ts'
import { requireRate } from './put-api-key.ts'

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
}

/** Reads and writes while other commands change the same key. */
const TRIES_MAX = 5

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
    try {
      await table.transact({
        key: { Update: { Key: tableKeys.apiKey(digest), ...updateOf(changes.filter(isRead), revision) } },
        listing: { Update: { Key: tableKeys.apiKeyListing(keyId), ...updateOf(changes, revision, playground) } },
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
      return { key: (await getApiKey(table, keyId)).listing, isChanged: true }
    } catch (error) {
      if (!(error instanceof ConditionsNotMetError)) {
        throw error
      }
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
  changes: readonly Change[],
  revision: number | undefined,
  playground?: PlaygroundKeys,
): Omit<ItemUpdate, 'Key'> {
  const set = changes.filter(({ value }) => value !== undefined)
  const removed = changes.filter(({ value }) => value === undefined)
  const keyIsNotRevoked = '#state = :active'
  const keyHasNotChanged = revision === undefined ? 'attribute_not_exists(revision)' : 'revision = :was'
  const made = playground === undefined ? undefined : hasNoNewPlaygroundKey(playground)
  return {
    UpdateExpression: [
      `SET ${['revision = :next', ...set.map(({ attribute }) => `#${attribute} = :${attribute}`)].join(', ')}`,
      ...(removed.length === 0 ? [] : [`REMOVE ${removed.map(({ attribute }) => `#${attribute}`).join(', ')}`]),
    ].join(' '),
    ConditionExpression: [keyIsNotRevoked, keyHasNotChanged, ...(made === undefined ? [] : [made.condition])].join(
      ' AND ',
    ),
    ExpressionAttributeNames: {
      '#state': 'state',
      ...Object.fromEntries(changes.map(({ attribute }) => [`#${attribute}`, attribute])),
    },
    ExpressionAttributeValues: {
      ':active': 'active',
      ':next': (revision ?? 0) + 1,
      ...(revision === undefined ? {} : { ':was': revision }),
      ...made?.values,
      ...Object.fromEntries(set.map(({ attribute, value }) => [`:${attribute}`, value])),
    },
  }
}

function shownBudget(planned: PlannedKeyBudget | undefined, when: 'before' | 'after'): AuditedFields {
  const limit = planned?.[when]
  return limit === undefined ? {} : { budget: limit === null ? null : formatBudgetLimit(limit) }
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
