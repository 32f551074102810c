import { beforeEach, describe, expect, it } from 'vitest'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { openSession } from '#adapters/store/console/open-session.ts'
import { endSession, endSessionsOf, listSessions, markSessionSeen } from '#adapters/store/console/sessions.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'
import { ADA, OPENING } from './signed-in.ts'

const engine = useTestTable()
let table: Table
beforeEach(async () => {
  table = await engine.fresh()
})

const { nowMilliseconds } = OPENING
const BOB = { ...ADA, actor: 'bob', holder: 'oidc:bob' }
const open = async (user = ADA) => (await openSession(table, user, OPENING)).session
const listed = async (holder?: string) =>
  (await listSessions(table, { holder, limit: 200, nowMilliseconds })).sessions.map(({ id }) => id)

describe('sessions', () => {
  it('are listed for all or for one holder, until they are over', async () => {
    const [ofAda, ofBob] = [await open(), await open(BOB)]
    expect(new Set(await listed())).toEqual(new Set([ofAda.id, ofBob.id]))
    expect(await listed('oidc:bob')).toEqual([ofBob.id])
    const later = { holder: undefined, limit: 200, nowMilliseconds: ofAda.expiresAt }
    expect((await listSessions(table, later)).sessions).toEqual([])
  })

  it('of one holder come page by page, and no page tells how many others there are', async () => {
    const own: string[] = []
    for (let user = 0; user < 6; user += 1) {
      own.push((await open()).id)
      await open(BOB)
    }
    const seen: string[] = []
    let after: string | undefined
    do {
      const page = await listSessions(table, { holder: 'oidc:ada', limit: 2, after, nowMilliseconds })
      seen.push(...page.sessions.map(({ id }) => id))
      expect(page.sessions).toHaveLength(2)
      after = page.next
      expect([undefined, ...own]).toContain(after)
    } while (after !== undefined)
    expect(seen.toSorted()).toEqual(own.toSorted())
  })

  it('end once, and only for their holder where one is named', async () => {
    const { id } = await open()
    expect(await endSession(table, id, { actor: TESTER, holder: 'oidc:bob' })).toBe(false)
    expect(await listed()).toEqual([id])
    expect(await endSession(table, id, { actor: TESTER, holder: 'oidc:ada' })).toBe(true)
    expect(await endSession(table, id, { actor: TESTER, holder: undefined })).toBe(false)
    const entries = (await readAudit(table, { limit: 9 })).entries.filter(({ action }) => action === 'session end')
    expect(entries).toHaveLength(1)
  })

  it('of one holder end together, however many there are, and the log says how many', async () => {
    await Promise.all(Array.from({ length: 120 }, () => open()))
    const { id } = await open(BOB)
    await endSessionsOf(table, 'oidc:ada', TESTER)
    expect(await listed()).toEqual([id])
    const ended = (await readAudit(table, { limit: 500 })).entries.filter(({ action }) => action === 'session end')
    expect(ended.map(({ before }) => before?.sessions).toSorted()).toEqual([30, 90])
  })

  it('are not brought back by a note that they were in use', async () => {
    const session = await open()
    await endSession(table, session.id, { actor: TESTER, holder: undefined })
    await markSessionSeen(table, session, nowMilliseconds + 1)
    expect(await listed()).toEqual([])
  })

  it('keep the latest note of two that come at once', async () => {
    const session = await open()
    await Promise.all([1, 2, 3].map((later) => markSessionSeen(table, session, nowMilliseconds + later)))
    const [seen] = (await listSessions(table, { holder: undefined, limit: 1, nowMilliseconds })).sessions
    expect(seen?.seenAt).toBeGreaterThan(nowMilliseconds)
  })
})
