import { beforeEach, describe, expect, it } from 'vitest'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { openSession } from '#adapters/store/console/open-session.ts'
import { listSessions } from '#adapters/store/console/sessions.ts'
import { ConditionsNotMetError } from '#adapters/store/table/conditions-not-met-error.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { ADA, OPENING } from './signed-in.ts'

const engine = useTestTable()
let table: Table
beforeEach(async () => {
  table = await engine.fresh()
})

const { nowMilliseconds } = OPENING
const open = async (user = ADA) => (await openSession(table, user, OPENING)).session
const listed = async (holder?: string) =>
  (await listSessions(table, { holder, limit: 200, nowMilliseconds })).sessions.map(({ id }) => id)

describe('openSession', () => {
  it('gives the session twelve hours, or less with its key', async () => {
    expect(await open()).toMatchObject({ expiresAt: nowMilliseconds + 43_200_000, seenAt: nowMilliseconds })
    expect(await open({ ...ADA, endsAt: nowMilliseconds + 5 })).toMatchObject({ expiresAt: nowMilliseconds + 5 })
  })

  it('opens nothing and records nothing when a write beside it is refused', async () => {
    const Key = { PK: 'LINK#none', SK: '0' }
    const alongside = { link: { Delete: { Key, ConditionExpression: 'attribute_exists(PK)' } } }
    await expect(openSession(table, ADA, { ...OPENING, alongside })).rejects.toBeInstanceOf(ConditionsNotMetError)
    expect(await listed()).toEqual([])
    expect((await readAudit(table, { limit: 9 })).entries).toEqual([])
  })

  it('records who signed in, how, and in which request', async () => {
    const { id } = await open()
    expect((await readAudit(table, { limit: 9 })).entries).toMatchObject([
      { actor: 'ada', role: 'viewer', action: 'session create', target: id, requestId: 'request-1' },
    ])
  })
})
