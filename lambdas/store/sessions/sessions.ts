import { randomBytes } from 'node:crypto'
import * as z from 'zod/mini'
import {
  type Assignment,
  formatSessionToken,
  type KeyOfSession,
  SESSION_MILLISECONDS,
  type Session,
} from '#core/admin/session.ts'
import { isLikeAdminKey, isPlausibleKey } from '#core/api-key.ts'
import { randomBase62, sha256Hex } from '../../platform/crypto.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { callerOf, readApiKeyRecord } from '../callers.ts'
import { allOf, change, isStill } from '../table/expressions.ts'
import { type Item, type NamedWrites, readBatches, type Table, tryTransact } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readTenantRecord } from '../tenants/tenants.ts'
import { findAdminKey } from './admin-keys.ts'
import { keyItem, mayKeyGoOn, readSessionRecord, sessionItemOf } from './find-session.ts'

/** Which sessions to list. */
type SessionWish = {
  /** Sessions of this holder alone; undefined for all. */
  readonly holder: string | undefined
  /** The most sessions to return, from 1; fewer where others have ended or are of another holder. */
  readonly limit: number
  /** The id of the last session of the page before. */
  readonly after?: string | undefined
  readonly nowMilliseconds: number
}

/** A page of sessions; `next` continues it. */
type SessionPage = { readonly sessions: readonly Session[]; readonly next: string | undefined }

/**
 * Sessions that are not over, by one query and a read of their keys: a session whose key is gone for good is refused, so nobody is signed in with
 * it. One that rests with its suspended tenant stays in the list, because it comes back with the tenant.
 */
export async function listSessions(
  table: Pick<Table, 'queryPage' | 'readItems'>,
  wish: SessionWish,
): Promise<SessionPage> {
  const { sessions, next } = await readSessionPage(table, wish)
  const keys = sessions.flatMap((session) => keyOf(session) ?? []).map(keyItem)
  const items = new Map<string, Item>()
  for await (const batch of readBatches(table, new Map(keys.map((key) => [nameOfItem(key), key])).values())) {
    for (const item of batch) {
      items.set(nameOfItem(item), { ...item, suspended: false })
    }
  }
  const isUsable = (key: KeyOfSession | undefined) =>
    mayKeyGoOn(key, key && items.get(nameOfItem(keyItem(key))), wish.nowMilliseconds)
  return { sessions: sessions.filter((session) => isUsable(keyOf(session))), next }
}

function nameOfItem({ PK, SK }: Item): string {
  return `${PK} ${SK}`
}

/**
 * Sessions whose time is not over, by one query. A page of one holder searches the same number of sessions whatever its limit, so that its pages
 * do not count the sessions of others, and seldom end at one.
 */
async function readSessionPage(
  table: Pick<Table, 'queryPage'>,
  { holder, limit, after, nowMilliseconds }: SessionWish,
): Promise<SessionPage> {
  const ofHolder = holder === undefined ? '' : ' AND holder = :holder'
  const { items, nextKey } = await table.queryPage(
    {
      KeyConditionExpression: 'PK = :pk',
      FilterExpression: `expiresAt > :now${ofHolder}`,
      ExpressionAttributeValues: {
        ':pk': tableKeys.session('').PK,
        ':now': nowMilliseconds,
        ...(holder === undefined ? {} : { ':holder': holder }),
      },
      ConsistentRead: true,
      Limit: holder === undefined ? limit : SEARCHED_AT_ONCE,
    },
    after === undefined ? undefined : tableKeys.session(after),
  )
  const sessions = items.slice(0, limit).map((item) => readSessionRecord(item).session)
  const isCut = items.length > limit
  const next = isCut ? sessions.at(-1)?.id : nextKey === undefined ? undefined : String(nextKey.SK)
  return { sessions: sessions.toSorted((left, right) => right.seenAt - left.seenAt), next }
}

/** Notes that a session is in use, if nobody else has. */
export async function markSessionSeen(
  table: Pick<Table, 'updateItem'>,
  { id, seenAt }: Pick<Session, 'id' | 'seenAt'>,
  nowMilliseconds: number,
): Promise<void> {
  const seen = { set: { seenAt: nowMilliseconds } }
  await table.updateItem(change(tableKeys.session(id), seen, [isStill('seenAt', seenAt)]))
}

/**
 * Gives a session another of its roles, in one transaction with the entry of the audit log.
 * @returns false if the session has ended meanwhile.
 */
export async function switchSession(
  table: Pick<Table, 'transact'>,
  { id, role, tenant }: Pick<Session, 'id' | 'role' | 'tenant'>,
  { actor, to }: { readonly actor: Actor; readonly to: Assignment },
): Promise<boolean> {
  const refusal = await tryTransact(table, {
    session: { Update: change(tableKeys.session(id), { set: to }, ['attribute_exists(PK)']) },
    audit: auditEntry({
      actor,
      action: 'session switch',
      target: { kind: 'console', id, tenantId: to.tenant?.id },
      before: { role, name: tenant?.name ?? null },
      after: { role: to.role, name: to.tenant?.name ?? null },
      at: Date.now(),
    }),
  })
  return refusal === undefined
}

/** Who ends sessions, and whose. */
type Ending = {
  readonly actor: Actor
  /** Sessions of this holder alone; undefined for any. */
  readonly holder: string | undefined
}

/**
 * Ends one session, in one transaction with the entry of the audit log.
 * @returns false if there is no such session, or not of this holder.
 */
export async function endSession(
  table: Pick<Table, 'transact'>,
  sessionId: string,
  { actor, holder }: Ending,
): Promise<boolean> {
  const isThere = holder === undefined ? 'attribute_exists(PK)' : isStill('holder', holder)
  const refusal = await tryTransact(table, {
    session: { Delete: { Key: tableKeys.session(sessionId), ...allOf([isThere]) } },
    audit: sessionEnd(actor, sessionId, { state: 'active' }),
  })
  return refusal === undefined
}

function sessionEnd(actor: Actor, id: string, before: AuditedFields) {
  const target = { kind: 'console', id } as const
  return auditEntry({ actor, action: 'session end', target, before, after: null, at: Date.now() })
}

/** Sessions that one transaction ends, with room for the entry of the audit log. */
const ENDED_AT_ONCE = 90

/**
 * Ends every session of a holder that exists now; the entry of the audit log says how many. A session that is opened meanwhile
 * may stay.
 */
export async function endSessionsOf(
  table: Pick<Table, 'queryPage' | 'transact'>,
  holder: string,
  actor: Actor,
): Promise<void> {
  let after: string | undefined
  do {
    const page = await readSessionPage(table, { holder, limit: SEARCHED_AT_ONCE, after, nowMilliseconds: 0 })
    for (let first = 0; first < page.sessions.length; first += ENDED_AT_ONCE) {
      const ids = page.sessions.slice(first, first + ENDED_AT_ONCE).map(({ id }) => id)
      await table.transact({
        ...Object.fromEntries(ids.map((id) => [`session ${id}`, { Delete: { Key: tableKeys.session(id) } }])),
        audit: sessionEnd(actor, holder, { sessions: ids.length }),
      })
    }
    after = page.next
  } while (after !== undefined)
}

/** Some half a megabyte of sessions. */
const SEARCHED_AT_ONCE = 1_000

const SESSION_ID_CHARACTERS = 16
const SECRET_BYTES = 32

/** Who signs in. */
export type SignedInUser = Pick<Session, 'kind' | 'actor' | 'role' | 'tenant' | 'assignments' | 'keyId' | 'holder'> & {
  /** The end of the key, in Unix milliseconds, if it is earlier than that of a session. */
  readonly endsAt?: number | undefined
}

/** How a session is opened. */
type Opening = {
  /** Whether the session needs a secret of the page, as on loopback. */
  readonly hasPageSecret: boolean
  readonly requestId: string | undefined
  readonly nowMilliseconds: number
  /** Writes that must hold for the sign-in, such as the use of a link. */
  readonly alongside?: NamedWrites
}

/** A new session with its secrets, which are stored as digests only. */
type OpenedSession = { readonly session: Session; readonly token: string; readonly pageSecret: string | undefined }

/**
 * Opens a session under a new id and a new secret, in one transaction with the entry of the audit log.
 * @throws ConditionsNotMetError when a write beside it is refused.
 */
export async function openSession(
  table: Pick<Table, 'transact'>,
  { endsAt = Number.POSITIVE_INFINITY, ...user }: SignedInUser,
  { hasPageSecret, requestId, nowMilliseconds: at, alongside = {} }: Opening,
): Promise<OpenedSession> {
  const id = randomBase62(SESSION_ID_CHARACTERS)
  const token = formatSessionToken({ sessionId: id, key: keyOf(user) }, randomSecret())
  const pageSecret = hasPageSecret ? randomSecret() : undefined
  const expiresAt = Math.min(at + SESSION_MILLISECONDS, endsAt)
  const session: Session = { id, ...user, createdAt: at, seenAt: at, expiresAt }
  const pageDigest = pageSecret === undefined ? undefined : sha256Hex(pageSecret)
  const Item = sessionItemOf({ session, digest: sha256Hex(token), pageDigest })
  const { actor: name, role, kind, tenant } = user
  await table.transact({
    session: { Put: { Item, ConditionExpression: 'attribute_not_exists(PK)' } },
    ...alongside,
    audit: auditEntry({
      actor: { name, role, requestId },
      action: 'session create',
      target: { kind: 'console', id, tenantId: tenant?.id },
      before: null,
      after: { kind, role, expires: new Date(expiresAt).toISOString() },
      at,
    }),
  })
  return { session, token, pageSecret }
}

function keyOf({ kind, keyId }: Pick<Session, 'kind' | 'keyId'>): KeyOfSession | undefined {
  return keyId !== null && (kind === 'admin_key' || kind === 'api_key') ? { kind, keyId } : undefined
}

/** 256 random bits in base64url. */
export function randomSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

/**
 * The user of an admin key or an API key; undefined for a key that is unknown or may not be used now. For an unknown key and
 * a revoked one the same is read and compared.
 */
export async function findUserOfKey(
  table: Table,
  key: string,
  nowMilliseconds: number,
): Promise<SignedInUser | undefined> {
  return isLikeAdminKey(key) ? (await findAdminKey(table, key)).user : await userOfApiKey(table, key, nowMilliseconds)
}

const listed = z.object({ digest: z.string() })

/** Short-lived keys of the playground have no listing, and cannot sign in. */
async function userOfApiKey(table: Table, key: string, nowMilliseconds: number): Promise<SignedInUser | undefined> {
  const keyDigest = sha256Hex(key)
  const item = isPlausibleKey(key) ? await table.readItem(tableKeys.apiKey(keyDigest)) : undefined
  const record = item === undefined ? undefined : readApiKeyRecord(item, keyDigest)
  const caller = record === undefined ? undefined : callerOf(record, Math.trunc(nowMilliseconds / 1000))
  if (record === undefined || caller === undefined) {
    return undefined
  }
  const { keyId, tenantId: id } = caller
  const [tenant, listing] = await table.readItems([tableKeys.tenant(id), tableKeys.apiKeyListing(keyId)])
  if (tenant === undefined || listing === undefined || listed.parse(listing).digest !== keyDigest) {
    return undefined
  }
  return {
    kind: 'api_key',
    actor: `key ${keyId}`,
    role: 'tenant',
    tenant: { id, name: readTenantRecord(tenant).name },
    keyId,
    holder: `api_key:${keyId}`,
    endsAt: record.expiresAt === undefined ? undefined : record.expiresAt * 1000,
  }
}

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
