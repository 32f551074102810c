import { beforeEach, describe, expect, it } from '@jest/globals'
import { auditEntry, type NewAuditEntry, recordAudit } from '#store/audit/audit-entry.ts'
import { type AuditWish, readAudit } from '#store/audit/read-audit.ts'
import { generateApiKey } from '#store/keys/key-changes.ts'
import type { Table, TableQuery } from '#store/table/table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'

describe('auditEntry', () => {
  const engine = useTestTable()
  let table: Table
  beforeEach(async () => {
    table = await engine.fresh()
  })

  const ENTRY: NewAuditEntry = {
    actor: { name: 'alice@laptop', role: 'operator', requestId: 'request-1' },
    action: 'tenant suspend',
    target: { kind: 'tenant', id: 'acme' },
    before: { state: 'active' },
    after: { state: 'suspended', reason: 'unpaid' },
    at: 1_800_000_000_123,
  }

  it('keeps actor, role, action, target, before, after, request id and time', async () => {
    expect(await recordAudit(table, ENTRY)).toBe(true)
    const { entries } = await readAudit(table, { limit: 10 })
    expect(entries).toEqual([
      {
        position: expect.stringMatching(/^001800000000123#/),
        at: 1_800_000_000_123,
        actor: 'alice@laptop',
        role: 'operator',
        action: 'tenant suspend',
        kind: 'tenant',
        target: 'acme',
        tenant: 'acme',
        before: { state: 'active' },
        after: { state: 'suspended', reason: 'unpaid' },
        requestId: 'request-1',
      },
    ])
  })

  it('makes two entries of two effects of one millisecond', async () => {
    await recordAudit(table, ENTRY)
    await recordAudit(table, ENTRY)
    expect((await readAudit(table, { limit: 10 })).entries).toHaveLength(2)
  })

  it('makes one entry of the same time and id, so that refusals of an address and minute are one row', async () => {
    expect(await recordAudit(table, { ...ENTRY, id: '192.0.2.1' })).toBe(true)
    expect(await recordAudit(table, { ...ENTRY, id: '192.0.2.1' })).toBe(false)
    expect((await readAudit(table, { limit: 10 })).entries).toHaveLength(1)
  })

  it('leaves no entry of a transaction that is refused', async () => {
    const never = { Key: { PK: 'X', SK: '0' }, ConditionExpression: 'attribute_exists(PK)' }
    await expect(table.transact({ effect: { ConditionCheck: never }, audit: auditEntry(ENTRY) })).rejects.toThrow()
    expect((await readAudit(table, { limit: 10 })).entries).toEqual([])
  })

  it('stores no key that an operator has pasted into a name', () => {
    const key = generateApiKey()
    const target = { kind: 'key', id: 'k' } as const
    const stored = auditEntry({ ...ENTRY, target, after: { name: `web ${key}`, models: [key, 'chat'] } })
    expect(JSON.stringify(stored)).not.toContain(key)
    expect(stored.Put.Item.after).toEqual({ name: 'web [redacted]', models: ['[redacted]', 'chat'] })
  })
})

describe('readAudit', () => {
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

  it.each([undefined, 'alice'])('gives pages that are the whole in order, with the actor %s', async (actor) => {
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

  it('is at its end where it goes on before its `since`', async () => {
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
