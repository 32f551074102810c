import { beforeEach, describe, expect, it } from 'vitest'
import { type NewAuditEntry, recordAudit } from '#adapters/store/audit/audit-entry.ts'
import { type AuditWish, readAudit } from '#adapters/store/audit/read-audit.ts'
import type { Table, TableQuery } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()
let table: Table
beforeEach(async () => {
  table = await engine.fresh()
})

const NOW = 1_800_000_000_000
const DAY = 24 * 60 * 60_000

async function record(at: number, entry: Partial<NewAuditEntry> = {}): Promise<void> {
  const actor = { name: 'alice@laptop', role: 'operator' } as const
  const target = { kind: 'tenant', id: 'acme' } as const
  await recordAudit(table, { actor, action: 'tenant limit', target, before: null, after: null, at, ...entry })
}

async function timesOf(wish: Partial<AuditWish> = {}): Promise<number[]> {
  return (await readAudit(table, { limit: 100, ...wish })).entries.map(({ at }) => at - NOW)
}

describe('read-audit', () => {
  it('reads newest first, over the ends of months and years', async () => {
    for (const at of [-400 * DAY, 3, -40 * DAY, 0]) {
      await record(NOW + at)
    }
    expect(await timesOf()).toEqual([3, 0, -40 * DAY, -400 * DAY])
  })

  it('leaves out what is older than `since`, whose own millisecond is inside', async () => {
    for (const at of [-1, 0, 1]) {
      await record(NOW + at)
    }
    expect(await timesOf({ since: NOW })).toEqual([1, 0])
  })

  it('finds an actor by a part of the name', async () => {
    await record(NOW, { actor: { name: 'arn:aws:sts::1:assumed-role/Admin/bob', role: 'operator' } })
    await record(NOW + 1)
    expect(await timesOf({ actor: 'bob' })).toEqual([0])
  })

  it('finds a target by its id, and a tenant with its keys and jobs', async () => {
    await record(NOW)
    await record(NOW + 1, { target: { kind: 'key', id: 'k1', tenantId: 'acme' } })
    await record(NOW + 2, { target: { kind: 'job', id: 'j1', tenantId: 'other' } })
    expect(await timesOf({ targets: ['acme'] })).toEqual([1, 0])
    expect(await timesOf({ targets: ['k1'] })).toEqual([1])
    expect(await timesOf({ targets: ['j1', 'k1'], actor: 'alice' })).toEqual([2, 1])
    expect(await timesOf({ targets: ['nobody'] })).toEqual([])
  })

  it.each([undefined, 'alice'])('pages of a reading with the actor %s are the whole in order', async (actor) => {
    for (let at = 0; at < 7; at += 1) {
      await record(NOW + at)
    }
    const read: number[] = []
    let before: string | undefined
    do {
      const { entries, next } = await readAudit(table, { limit: 3, before, actor })
      read.push(...entries.map(({ at }) => at - NOW))
      before = next
    } while (before !== undefined)
    expect(read).toEqual([6, 5, 4, 3, 2, 1, 0])
  })

  it('a reading that goes on before its `since` is at its end', async () => {
    await record(NOW)
    const { next } = await readAudit(table, { limit: 1 })
    expect(await readAudit(table, { limit: 1, before: next, since: NOW + 1 })).toEqual({ entries: [], next: undefined })
  })

  it('takes a bounded number of queries for a search without result, and says where it goes on', async () => {
    const queries: TableQuery[] = []
    const endless: Pick<Table, 'queryPage'> = {
      queryPage: async (query) => {
        queries.push(query)
        return { items: [], nextKey: { PK: 'AUDIT', SK: `${999 - queries.length}` } }
      },
    }
    const { entries, next } = await readAudit(endless, { limit: 5, actor: 'nobody' })
    expect(queries).toHaveLength(40)
    expect({ entries, next }).toEqual({ entries: [], next: '959' })
  })
})
