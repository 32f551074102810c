import { beforeEach, describe, expect, it } from 'vitest'
import { generateApiKey } from '#adapters/store/accounts/create-api-key.ts'
import { auditEntry, type NewAuditEntry, recordAudit } from '#adapters/store/audit/audit-entry.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

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

describe('audit-entry', () => {
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

  it('two effects of one millisecond are two entries', async () => {
    await recordAudit(table, ENTRY)
    await recordAudit(table, ENTRY)
    expect((await readAudit(table, { limit: 10 })).entries).toHaveLength(2)
  })

  it('the same time and id is one entry, so that refusals of an address and minute are one row', async () => {
    expect(await recordAudit(table, { ...ENTRY, id: '192.0.2.1' })).toBe(true)
    expect(await recordAudit(table, { ...ENTRY, id: '192.0.2.1' })).toBe(false)
    expect((await readAudit(table, { limit: 10 })).entries).toHaveLength(1)
  })

  it('an entry of a transaction that is refused does not exist', async () => {
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
