import * as z from 'zod/mini'

/** An admin key as operators see it: never the key, only its public id. Times are Unix milliseconds. */
type AdminKey = {
  readonly keyId: string
  readonly name: string
  readonly role: 'owner' | 'viewer'
  readonly state: 'active' | 'revoked'
  readonly createdAt: number
}

/** An admin key with the digest that proves it. */
export type StoredAdminKey = { readonly key: AdminKey; readonly digest: string }

const adminKeyItem = z.object({
  SK: z.string(),
  name: z.string(),
  role: z.enum(['owner', 'viewer']),
  state: z.enum(['active', 'revoked']),
  createdAt: z.number(),
  digest: z.string(),
})

/** Reads a stored admin key. @throws ZodError for an item that this service did not write. */
export function readAdminKeyRecord(item: unknown): StoredAdminKey {
  const { SK: keyId, digest, ...fields } = adminKeyItem.parse(item)
  return { key: { keyId, ...fields }, digest }
}
