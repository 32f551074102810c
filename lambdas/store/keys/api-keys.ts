import * as z from 'zod/mini'
import { type BudgetOfKey, budgetAttributes, namedBudget } from '../callers.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { type Change, type Clause, change, isStill } from '../table/expressions.ts'
import { type NamedWrites, queryPartition, readBatches, type Table } from '../table/table.ts'
import { isSortKey, tableKeys } from '../table/table-keys.ts'

/**
 * A short-lived key of the playground, as its parent remembers it: the listing of the API key that signed in, or the record of the tenant
 * that an owner chose. It has no listing of its own, so lists of keys stay short, and every change of the parent finds it.
 */
export type PlaygroundKey = {
  readonly digest: string
  /** The session of the console that made the key. */
  readonly sessionId: string
  /** Unix seconds. */
  readonly expiresAt: number
}

/** The playground keys of a parent. `revision` is raised when one is made, so that a change of the parent cannot miss one. */
export type PlaygroundKeys = { readonly keys: readonly PlaygroundKey[]; readonly revision: number | undefined }

const parentItem = z.object({
  playgroundKeys: z._default(
    z.array(z.object({ digest: z.string(), sessionId: z.string(), expiresAt: z.number() })),
    [],
  ),
  playgroundRevision: z.optional(z.number()),
})

/** Reads the playground keys of a parent. @throws ZodError for an item that this service did not write. */
export function readPlaygroundKeys(parent: unknown): PlaygroundKeys {
  const { playgroundKeys: keys, playgroundRevision: revision } = parentItem.parse(parent)
  return { keys, revision }
}

/** The condition that no playground key was made since the parent was read, with its value. */
export function hasNoNewPlaygroundKey({ revision }: PlaygroundKeys) {
  return isStill('playgroundRevision', revision)
}

/** The writes that end playground keys: their next request is refused. A key that has expired may be gone, and needs no write. */
export function endPlaygroundKeys(keys: readonly PlaygroundKey[], nowMilliseconds: number): NamedWrites {
  const live = keys.filter(({ expiresAt }) => expiresAt * 1000 > nowMilliseconds)
  return Object.fromEntries(
    live.map(({ digest }, index) => [
      `playgroundKey ${index}`,
      { Update: change(tableKeys.apiKey(digest), { set: { state: 'revoked' } }, ['attribute_exists(PK)']) },
    ]),
  )
}

/** An API key as an operator sees it: never the key, only its public id. */
export type ApiKeyListing = {
  readonly keyId: string
  readonly tenantId: string
  /** The operator's name for the key; null for a key without one. */
  readonly name: string | null
  readonly state: 'active' | 'revoked'
  /** Whether its tenant is suspended. */
  readonly suspended: boolean
  /** Models the key may use; null for all. */
  readonly models: readonly string[] | null
  /** Milliseconds, on a whole second; null for a key that does not expire. */
  readonly expiresAt: number | null
  /** When it would have expired had no key replaced it, in the same form; undefined for a key that was never replaced. */
  readonly endBeforeReplacement: number | null | undefined
  /** Requests per minute; null for a key without a limit. */
  readonly ratePerMinute: number | null
  /** The budget in which its requests count; null without one. */
  readonly budget: BudgetOfKey | null
  /** Milliseconds. */
  readonly createdAt: number
  /** Counts the changes of the key; undefined for a key that was never changed. */
  readonly revision: number | undefined
  /** Whose key it is; undefined for an API key. */
  readonly identity?: KeyIdentity | undefined
}

/** The subject of an issuer whose key it is. */
type KeyIdentity = {
  readonly issuer: string
  readonly subject: string
  /** The name of the rule that was applied last, and what it allows, as text. */
  readonly rule: string
  readonly limits: string
}

const listingItem = z.object({
  SK: z.string(),
  tenantId: z.string(),
  name: z._default(z.nullable(z.string()), null),
  state: z.enum(['active', 'revoked']),
  suspended: z._default(z.boolean(), false),
  models: z.nullable(z.array(z.string())),
  // Unix seconds, as in the record that authentication reads.
  expiresAt: z.optional(z.number()),
  endBeforeReplacement: z.optional(z.nullable(z.number())),
  ratePerMinute: z._default(z.nullable(z.number()), null),
  ...budgetAttributes,
  createdAt: z.number(),
  digest: z.string(),
  revision: z.optional(z.number()),
  issuer: z.optional(z.string()),
  subject: z.optional(z.string()),
  rule: z.optional(z.string()),
  ruleLimits: z.optional(z.string()),
})

function toMilliseconds(seconds: number | null): number | null {
  return seconds === null ? null : seconds * 1000
}

/** Every key of every tenant. */
export async function listApiKeys(table: Table): Promise<ApiKeyListing[]> {
  const listings: ApiKeyListing[] = []
  for await (const item of queryPartition(table, tableKeys.apiKeyListing('').PK)) {
    listings.push(readListing(item).listing)
  }
  return listings
}

/** The models that a key may use; null for all. A key that is gone may use none. */
export async function readApiKeyModels(
  table: Pick<Table, 'readItem'>,
  keyId: string,
): Promise<readonly string[] | null> {
  const item = isSortKey(keyId) ? await table.readItem(tableKeys.apiKeyListing(keyId)) : undefined
  return item === undefined ? [] : readListing(item).listing.models
}

/** The names of keys by their public ids; keys without a name, and those that are gone, are left out. */
export async function readApiKeyNames(
  table: Pick<Table, 'readItems'>,
  keyIds: Iterable<string>,
): Promise<ReadonlyMap<string, string>> {
  const names = new Map<string, string>()
  const keys = [...new Set(keyIds)].filter(isSortKey).map(tableKeys.apiKeyListing)
  for await (const items of readBatches(table, keys)) {
    for (const item of items) {
      const { keyId, name } = readListing(item).listing
      if (name !== null) {
        names.set(keyId, name)
      }
    }
  }
  return names
}

/** Which keys to list. */
type KeyPageWish = {
  readonly limit: number
  /** Keys of this tenant alone. */
  readonly tenantId?: string | undefined
  /** The id of the last key before the page. */
  readonly after?: string | undefined
}

/** Keys that one query reads to find those of a tenant. */
const SEARCHED_MAX = 2_000

/** A page of keys by id, in one query. A page of one tenant may be short. `next` continues the list. */
export async function listApiKeyPage(
  table: Pick<Table, 'queryPage'>,
  { limit, tenantId, after = ' ' }: KeyPageWish,
): Promise<{ readonly keys: readonly ApiKeyListing[]; readonly next: string | undefined }> {
  const { items, nextKey } = await table.queryPage({
    KeyConditionExpression: 'PK = :pk AND SK > :after',
    ExpressionAttributeValues: {
      ':pk': tableKeys.apiKeyListing('').PK,
      ':after': after,
      ...(tenantId === undefined ? {} : { ':tenant': tenantId }),
    },
    ...(tenantId === undefined ? {} : { FilterExpression: 'tenantId = :tenant' }),
    Limit: tenantId === undefined ? limit : SEARCHED_MAX,
    ConsistentRead: true,
  })
  const keys = items.slice(0, limit).map((item) => readListing(item).listing)
  const isCut = items.length > limit
  return { keys, next: isCut ? keys.at(-1)?.keyId : nextKey === undefined ? undefined : String(nextKey.SK) }
}

/** A key with what its changes need. */
type StoredListing = {
  readonly listing: ApiKeyListing
  /** The digest of the key, which finds its other item. */
  readonly digest: string
  /** Keys that the playground made in its name. */
  readonly playground: PlaygroundKeys
}

/** A key by its public id, strongly consistent. @throws StoreRefusal `not_found`. */
export async function getApiKey(table: Pick<Table, 'readItem'>, keyId: string): Promise<StoredListing> {
  const item = isSortKey(keyId) ? await table.readItem(tableKeys.apiKeyListing(keyId)) : undefined
  if (item === undefined) {
    throw noKey(keyId)
  }
  return readListing(item)
}

/** The refusal of a change, or a read, of a key that does not exist, or not for somebody of another tenant. */
export function noKey(keyId: string): StoreRefusal {
  return new StoreRefusal('not_found', `no key ${keyId}`)
}

function readListing(item: unknown): StoredListing {
  const { SK: keyId, digest, expiresAt = null, endBeforeReplacement, ...fields } = listingItem.parse(item)
  const { budgetId, budgetPeriod, issuer, subject = '', rule = '', ruleLimits: limits = '', ...rest } = fields
  const listing = {
    keyId,
    revision: undefined,
    ...rest,
    ...(issuer === undefined ? {} : { identity: { issuer, subject, rule, limits } }),
    budget: namedBudget({ budgetId, budgetPeriod }) ?? null,
    expiresAt: toMilliseconds(expiresAt),
    endBeforeReplacement: endBeforeReplacement === undefined ? undefined : toMilliseconds(endBeforeReplacement),
  }
  return { listing, digest, playground: readPlaygroundKeys(item) }
}

/** A key that gets a new end in the transaction that stores its successor. */
export type ReplacedApiKey = Pick<ApiKeyListing, 'keyId' | 'expiresAt'> & {
  /** The revision with which the key was read, whose name and limits its successor gets. */
  readonly revision?: number | undefined
  /** New expiry in Unix milliseconds, rounded down to seconds; it may shorten or extend. A revoked key stays revoked. */
  readonly endsAt: number
}

/**
 * The writes that give a replaced key its new end. The listing keeps the first end of the key, so that a second successor gets the key's
 * lifetime and not its last days.
 * @throws StoreRefusal `not_found`.
 */
export async function endKey(
  table: Table,
  { keyId, expiresAt, revision, endsAt }: ReplacedApiKey,
): Promise<NamedWrites> {
  const was = expiresAt === null ? undefined : wholeSeconds(expiresAt)
  const ending = { set: { expiresAt: wholeSeconds(endsAt) }, setOnce: { endBeforeReplacement: was ?? null } }
  return await updateKey(table, keyId, ending, [
    isStill('state', 'active'),
    isStill('expiresAt', was),
    isStill('revision', revision),
  ])
}

/** Seconds of a time in milliseconds, rounded down, so that a key never works longer than it should. */
export function wholeSeconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/**
 * The writes that change a key and its listing alike, if both exist, and end its playground keys, which have what the key had before.
 * @throws StoreRefusal `not_found` when no key has this id, or when the table has forgotten one of the two, as it does with subjects.
 */
export async function updateKey(
  table: Table,
  keyId: string,
  what: Change,
  clauses: readonly Clause[] = [],
): Promise<NamedWrites> {
  const { digest, playground } = await getApiKey(table, keyId)
  if ((await table.readItem(tableKeys.apiKey(digest))) === undefined) {
    throw noKey(keyId)
  }
  const all = ['attribute_exists(PK)', ...clauses]
  return {
    key: { Update: change(tableKeys.apiKey(digest), what, all) },
    listing: {
      Update: change(tableKeys.apiKeyListing(keyId), what, [...all, hasNoNewPlaygroundKey(playground)]),
    },
    ...endPlaygroundKeys(playground.keys, Date.now()),
  }
}
