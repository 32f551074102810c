import * as z from 'zod/mini'
import { sha256Hex } from '../../crypto/sha256.ts'
import type { NamedWrites, Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { randomSecret } from './open-session.ts'

const LINK_MILLISECONDS = 10 * 60 * 1000

const linkItem = z.object({ actor: z.string(), expiresAt: z.number() })

/**
 * Makes a link that signs in once, within ten minutes.
 * @param actor whom it signs in, such as `user@host`.
 * @returns its secret, which is stored as a digest.
 */
export async function makeSignInLink(
  table: Pick<Table, 'transact'>,
  actor: string,
  nowMilliseconds: number,
): Promise<string> {
  const secret = randomSecret()
  const expiresAt = nowMilliseconds + LINK_MILLISECONDS
  const Item = { ...tableKeys.signInLink(sha256Hex(secret)), actor, expiresAt, ttl: Math.ceil(expiresAt / 1000) }
  await table.transact({ link: { Put: { Item } } })
  return secret
}

/** The user of a link, and the write that uses it up: of two sign-ins at once, one is refused. */
type UsableLink = { readonly actor: string; readonly use: NamedWrites }

/** Finds a link by its secret; undefined for one that is unknown, used or over. */
export async function findSignInLink(
  table: Pick<Table, 'readItem'>,
  secret: string,
  nowMilliseconds: number,
): Promise<UsableLink | undefined> {
  const Key = tableKeys.signInLink(sha256Hex(secret))
  const item = await table.readItem(Key)
  if (item === undefined) {
    return undefined
  }
  const { actor, expiresAt } = linkItem.parse(item)
  if (expiresAt <= nowMilliseconds) {
    return undefined
  }
  return { actor, use: { link: { Delete: { Key, ConditionExpression: 'attribute_exists(PK)' } } } }
}
