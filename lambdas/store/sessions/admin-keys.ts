import * as z from 'zod/mini'
import { adminKeyIdOf, formatAdminKey } from '#core/api-key.ts'
import { GIVEN_ROLES, type GivenRole } from '#core/roles.ts'
import { isSameString, randomBase62, sha256Hex } from '../../platform/crypto.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { StoreRefusal } from '../store-refusal.ts'
import { change, isStill } from '../table/expressions.ts'
import { type Item, queryPartition, type Table, tryTransact } from '../table/table.ts'
import { isSortKey, tableKeys } from '../table/table-keys.ts'

const adminKeyItem = z.object({
  SK: z.string(),
  name: z.string(),
  role: z.enum(GIVEN_ROLES),
  /** Of a role of one tenant. */
  tenant: z._default(z.nullable(z.object({ id: z.string(), name: z.string() })), null),
  state: z.enum(['active', 'revoked']),
  createdAt: z.number(),
  digest: z.string(),
})

/** An admin key as operators see it: never the key, only its public id. Times are Unix milliseconds. */
type AdminKey = Readonly<Omit<z.infer<typeof adminKeyItem>, 'SK' | 'digest'>> & { readonly keyId: string }

/** An admin key with the digest that proves it. */
type StoredAdminKey = { readonly key: AdminKey; readonly digest: string }

/** Reads a stored admin key. @throws ZodError for an item that this service did not write. */
export function readAdminKeyRecord(item: unknown): StoredAdminKey {
  const { SK: keyId, digest, ...fields } = adminKeyItem.parse(item)
  return { key: { keyId, ...fields }, digest }
}

const KEY_ID_CHARACTERS = 8
const SECRET_CHARACTERS = 32

/** An admin key that was just made. The key itself is stored nowhere. */
type NewAdminKey = { readonly key: string; readonly listing: AdminKey }

/** Makes an admin key with 190 random bits, in one transaction with the entry of the audit log. */
export async function createAdminKey(
  table: Table,
  {
    name,
    role,
    tenant = null,
  }: { readonly name: string; readonly role: GivenRole; readonly tenant?: AdminKey['tenant'] },
  actor: Actor,
): Promise<NewAdminKey> {
  const keyId = randomBase62(KEY_ID_CHARACTERS)
  const key = formatAdminKey(keyId, randomBase62(SECRET_CHARACTERS))
  const listing: AdminKey = { keyId, name, role, tenant, state: 'active', createdAt: Date.now() }
  const { createdAt, state } = listing
  const Item = { ...tableKeys.adminKey(keyId), name, role, tenant, state, createdAt, digest: sha256Hex(key) }
  await table.transact({
    key: { Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' } },
    audit: auditEntry({
      actor,
      action: 'console key create',
      target: { kind: 'console', id: keyId, tenantId: tenant?.id },
      before: null,
      after: { name, role },
      at: createdAt,
    }),
  })
  return { key, listing }
}

/** As long as a digest, and none. */
const NO_DIGEST = '-'.repeat(64)

/** Who acts with an admin key. */
type AdminKeyUser = {
  readonly kind: 'admin_key'
  readonly actor: string
  readonly role: GivenRole
  readonly tenant: AdminKey['tenant']
  readonly keyId: string
  readonly holder: string
}

/** The user of an admin key that may be used now, and the item that was read along. */
type FoundAdminKey = { readonly user: AdminKeyUser | undefined; readonly along: Item | undefined }

/**
 * Finds the user of an admin key by one request to the table, strongly consistent. No user for a key that is mistyped, unknown or
 * revoked; of the last two the same is read and compared.
 * @param along another item to read in the same request.
 */
export async function findAdminKey(
  table: Pick<Table, 'readItems'>,
  key: string,
  along?: Parameters<Table['readItems']>[0][number],
): Promise<FoundAdminKey> {
  const keyId = adminKeyIdOf(key)
  if (keyId === undefined) {
    return { user: undefined, along: undefined }
  }
  const [item, other] = await table.readItems([tableKeys.adminKey(keyId), ...(along === undefined ? [] : [along])])
  const stored = item === undefined ? undefined : readAdminKeyRecord(item)
  const isSame = isSameString(stored?.digest ?? NO_DIGEST, sha256Hex(key))
  if (stored === undefined || !isSame || stored.key.state !== 'active') {
    return { user: undefined, along: other }
  }
  const { name, role, tenant } = stored.key
  const user = { kind: 'admin_key', actor: `${name} (${keyId})`, role, tenant, keyId } as const
  return { user: { ...user, holder: `admin_key:${keyId}` }, along: other }
}

/** Every admin key, revoked ones too, strongly consistent. */
export async function listAdminKeys(table: Table): Promise<readonly AdminKey[]> {
  return await Array.fromAsync(queryPartition(table, tableKeys.adminKey('').PK), (item) => readAdminKeyRecord(item).key)
}

/**
 * Revokes an admin key, in one transaction with the entry of the audit log. Its sessions end at their next request. A key that
 * is revoked already stays as it is.
 * @throws StoreRefusal `not_found` when no admin key has this id.
 */
export async function revokeAdminKey(table: Table, keyId: string, actor: Actor): Promise<AdminKey> {
  const item = isSortKey(keyId) ? await table.readItem(tableKeys.adminKey(keyId)) : undefined
  if (item === undefined) {
    throw new StoreRefusal('not_found', `no admin key has the id ${keyId}: see \`console key list\``)
  }
  const { key } = readAdminKeyRecord(item)
  if (key.state === 'active') {
    await revoke(table, keyId, actor)
  }
  return { ...key, state: 'revoked' }
}

async function revoke(table: Table, keyId: string, actor: Actor): Promise<void> {
  // A refusal means that another command, or an earlier try of this one, has revoked the key since it was read.
  await tryTransact(table, {
    key: { Update: change(tableKeys.adminKey(keyId), { set: { state: 'revoked' } }, [isStill('state', 'active')]) },
    audit: auditEntry({
      actor,
      action: 'console key revoke',
      target: { kind: 'console', id: keyId },
      before: { state: 'active' },
      after: { state: 'revoked' },
      at: Date.now(),
    }),
  })
}
