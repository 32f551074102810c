import type { Session } from '#core/admin/session.ts'
import { type Actor, auditEntry } from '../audit/audit-entry.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { readSessionRecord } from './session-record.ts'

/** Which sessions to list. */
export type SessionWish = {
  /** Sessions of this holder alone; undefined for all. */
  readonly holder: string | undefined
  /** The most sessions to return, from 1; fewer where others are of another holder or over. */
  readonly limit: number
  /** The id of the last session of the page before. */
  readonly after?: string | undefined
  readonly nowMilliseconds: number
}

/** A page of sessions; `next` continues it. */
export type SessionPage = { readonly sessions: readonly Session[]; readonly next: string | undefined }

/**
 * Sessions that are not over, by one query. A session whose key was revoked stays in the list until its end. A page of one holder searches
 * the same number of sessions whatever its limit, so that its pages do not count the sessions of others, and seldom end at one.
 */
export async function listSessions(
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
  await table.updateItem({
    Key: tableKeys.session(id),
    UpdateExpression: 'SET seenAt = :now',
    ConditionExpression: 'seenAt = :was',
    ExpressionAttributeValues: { ':now': nowMilliseconds, ':was': seenAt },
  })
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
  const isOfHolder =
    holder === undefined
      ? { ConditionExpression: 'attribute_exists(PK)' }
      : { ConditionExpression: 'holder = :holder', ExpressionAttributeValues: { ':holder': holder } }
  try {
    await table.transact({
      session: { Delete: { Key: tableKeys.session(sessionId), ...isOfHolder } },
      audit: auditEntry({
        actor,
        action: 'session end',
        target: { kind: 'console', id: sessionId },
        before: { state: 'active' },
        after: null,
        at: Date.now(),
      }),
    })
    return true
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return false
    }
    throw error
  }
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
    const page = await listSessions(table, { holder, limit: SEARCHED_AT_ONCE, after, nowMilliseconds: 0 })
    for (let first = 0; first < page.sessions.length; first += ENDED_AT_ONCE) {
      const ids = page.sessions.slice(first, first + ENDED_AT_ONCE).map(({ id }) => id)
      await table.transact({
        ...Object.fromEntries(ids.map((id) => [`session ${id}`, { Delete: { Key: tableKeys.session(id) } }])),
        audit: auditEntry({
          actor,
          action: 'session end',
          target: { kind: 'console', id: holder },
          before: { sessions: ids.length },
          after: null,
          at: Date.now(),
        }),
      })
    }
    after = page.next
  } while (after !== undefined)
}

/** Some half a megabyte of sessions. */
const SEARCHED_AT_ONCE = 1_000
