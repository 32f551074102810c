import { InvalidApiKeyError } from '#core/errors.ts'
import { sha256Hex } from '../../platform/crypto.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { activeKeyCheck, nameBudget } from '../callers.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { change } from '../table/expressions.ts'
import { type ConditionsNotMetError, type Item, type NamedWrites, type Table, tryTransact } from '../table/table.ts'
import { type TableKey, tableKeys } from '../table/table-keys.ts'
import { isTenantInState, noTenant } from '../tenants/tenants.ts'
import {
  type ApiKeyListing,
  endPlaygroundKeys,
  getApiKey,
  hasNoNewPlaygroundKey,
  type PlaygroundKey,
  type PlaygroundKeys,
  readPlaygroundKeys,
} from './api-keys.ts'
import { generateApiKey } from './key-changes.ts'

/** Each tab of a browser has its own, so keys are short-lived. */
const LIFETIME_SECONDS = 15 * 60

/** Live keys of one session, as for two tabs and a reload; the oldest one ends when another is made. */
const SESSION_KEYS_MAX = 3

/** Live keys of one parent, over all sessions. A change of the parent ends all of them in one transaction of at most 100 writes. */
const PARENT_KEYS_MAX = 20

/** The table may delete an expired key a day later; until then it is refused like any expired key. */
const KEPT_SECONDS = 24 * 60 * 60

/**
 * The public id under which the requests of an owner's keys are counted and billed: they have no API key as their parent. Each session has
 * its own, with its own event streams, and the audit log says whose session it is.
 */
export function ownersKeyId(sessionId: string): string {
  return `playground-${sessionId}`
}

const TRIES_MAX = 5

type Wish = {
  /** The public id of the API key that signed in; undefined for an owner, who names the tenant. */
  readonly keyId: string | undefined
  readonly tenantId: string
  readonly sessionId: string
  readonly actor: Actor
  readonly nowMilliseconds: number
}

/** A new key of the playground; `expiresAt` in Unix seconds. */
type NewPlaygroundKey = { readonly key: string; readonly expiresAt: number; readonly tenantId: string }

/**
 * Makes a key for the playground, in one transaction with the entry of the audit log. With an API key as its parent it has the models, the
 * rate and the budget of that key and its public id, so that its requests count in them and are billed under it; it ends when that key
 * ends or is changed. An owner's key may use every model and ends when the tenant is suspended. docs/decisions/0129.
 * @throws InvalidApiKeyError when the API key that signed in may not be used any more.
 * @throws StoreRefusal `not_found`, `tenant_suspended`, `changed_meanwhile`.
 */
export async function createPlaygroundKey(table: Table, wish: Wish): Promise<NewPlaygroundKey> {
  for (let attempt = 0; attempt < TRIES_MAX; attempt += 1) {
    const parent = wish.keyId === undefined ? await tenantParent(table, wish) : await keyParent(table, wish.keyId, wish)
    const key = generateApiKey()
    const made = { digest: sha256Hex(key), sessionId: wish.sessionId, expiresAt: endOf(parent, wish.nowMilliseconds) }
    const refusal = await tryTransact(table, writesFor(wish, parent, made))
    if (refusal === undefined) {
      return { key, expiresAt: made.expiresAt, tenantId: wish.tenantId }
    }
    explainRefusal(refusal, wish)
  }
  throw new StoreRefusal('changed_meanwhile', 'other sessions make playground keys at the same time: try again')
}

/** What a playground key is made from. */
type Parent = {
  /** The item that remembers the key. */
  readonly item: TableKey
  readonly playground: PlaygroundKeys
  readonly limits: Item
  /** Milliseconds; null for a parent without an end. */
  readonly expiresAt: number | null
  readonly check: NamedWrites
}

async function keyParent(table: Table, keyId: string, { nowMilliseconds }: Wish): Promise<Parent> {
  const { listing, digest, playground } = await getApiKey(table, keyId)
  const { state, suspended, expiresAt } = listing
  if (state === 'revoked' || suspended || (expiresAt !== null && expiresAt <= nowMilliseconds)) {
    throw new InvalidApiKeyError()
  }
  const read = { keyDigest: digest, revision: listing.revision }
  return {
    item: tableKeys.apiKeyListing(keyId),
    playground,
    limits: limitsOf(listing),
    expiresAt,
    check: { parent: { ConditionCheck: activeKeyCheck(read, Math.trunc(nowMilliseconds / 1000)) } },
  }
}

function limitsOf({ keyId, models, ratePerMinute, budget }: ApiKeyListing): Item {
  return { keyId, models, ratePerMinute: ratePerMinute ?? undefined, ...nameBudget(budget) }
}

async function tenantParent(table: Table, { tenantId, sessionId }: Wish): Promise<Parent> {
  const tenant = await table.readItem(tableKeys.tenant(tenantId))
  if (tenant === undefined) {
    throw noTenant(tenantId)
  }
  return {
    item: tableKeys.tenant(tenantId),
    playground: readPlaygroundKeys(tenant),
    limits: { keyId: ownersKeyId(sessionId), models: null },
    expiresAt: null,
    check: {},
  }
}

function endOf({ expiresAt }: Parent, nowMilliseconds: number): number {
  const end = Math.trunc(nowMilliseconds / 1000) + LIFETIME_SECONDS
  return expiresAt === null ? end : Math.min(end, Math.trunc(expiresAt / 1000))
}

function writesFor({ tenantId, actor, nowMilliseconds }: Wish, parent: Parent, made: PlaygroundKey): NamedWrites {
  const { kept, ended } = makeRoom(parent.playground.keys, made, nowMilliseconds)
  const { digest, expiresAt } = made
  const record = { ...parent.limits, tenantId, state: 'active', expiresAt, ttl: expiresAt + KEPT_SECONDS }
  return {
    tenant: { ConditionCheck: isTenantInState(tenantId, 'active') },
    ...parent.check,
    newKey: {
      Put: { Item: { ...tableKeys.apiKey(digest), ...record }, ConditionExpression: 'attribute_not_exists(PK)' },
    },
    holder: {
      Update: change(
        parent.item,
        { set: { playgroundKeys: [...kept, made], playgroundRevision: (parent.playground.revision ?? 0) + 1 } },
        ['attribute_exists(PK)', hasNoNewPlaygroundKey(parent.playground)],
      ),
    },
    ...endPlaygroundKeys(ended, nowMilliseconds),
    audit: auditEntry({
      actor,
      action: 'playground-key create',
      target: { kind: 'key', id: String(parent.limits.keyId), tenantId },
      before: null,
      after: { expires: new Date(expiresAt * 1000).toISOString() },
      at: nowMilliseconds,
    }),
  }
}

/** The live keys that stay beside a new one, and those that end because there would be too many. */
function makeRoom(keys: readonly PlaygroundKey[], { sessionId }: PlaygroundKey, nowMilliseconds: number) {
  const live = keys.filter(({ expiresAt }) => expiresAt * 1000 > nowMilliseconds)
  const own = live.filter((key) => key.sessionId === sessionId)
  const tooMany = new Set(own.slice(0, Math.max(0, own.length - SESSION_KEYS_MAX + 1)))
  const rest = live.filter((key) => !tooMany.has(key))
  for (const key of rest.slice(0, Math.max(0, rest.length - PARENT_KEYS_MAX + 1))) {
    tooMany.add(key)
  }
  return { kept: live.filter((key) => !tooMany.has(key)), ended: [...tooMany] }
}

/** Returns if the parent was changed or another session came first, so that another try can succeed. */
function explainRefusal(error: ConditionsNotMetError, { tenantId, keyId }: Wish): void {
  if (error.failed.has('tenant')) {
    throw keyId === undefined
      ? new StoreRefusal(
          'tenant_suspended',
          `tenant ${tenantId} is suspended: its keys are refused until it is resumed`,
        )
      : new InvalidApiKeyError()
  }
}
