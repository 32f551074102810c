import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTenant } from '#adapters/store/accounts/create-tenant.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import type { NamedWrites, Table } from '#adapters/store/table/table.ts'
import { parseCredits } from '#core/money/money.ts'
import { usageBackfill } from '../../../lib/admin/usage/usage-backfill-command.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { runCommand } from '../command-line/run-command.ts'
import { putSettledRow } from './settle-rows.ts'

let engine: TestTable
beforeAll(async () => {
  engine = await startTestTable()
  await openNamed(engine.table, 'acme')
  await openNamed(engine.table, 'idle')
})
afterAll(() => engine.close())

const openNamed = (table: Table, id: string) =>
  createTenant(
    table,
    { id, name: id, webhookSecret: 's', credits: parseCredits('1'), grantId: 'g', nowMilliseconds: 0 },
    TESTER,
  )

describe('usage backfill', () => {
  it('counts the rows of every tenant and says how many; a repeat finds none', async () => {
    await putSettledRow(engine.table, 'a')
    const first = await runCommand(usageBackfill, { table: engine.table })
    expect(first.text).toBe('acme: 1\n1 settlement counted')
    const tenants = [
      { tenant: 'acme', counted: 0 },
      { tenant: 'idle', counted: 0 },
    ]
    expect((await runCommand(usageBackfill, { table: engine.table })).json).toEqual({ counted: 0, tenants })
    const { entries } = await readAudit(engine.table, { limit: 10 })
    expect(entries.filter(({ action }) => action === 'usage backfill')).toMatchObject([
      { actor: TESTER.name, target: 'acme', after: { settlements: 1 } },
    ])
  })

  it('records what was counted before an error, and a repeat records the rest', async () => {
    const own = await engine.fresh()
    for (let index = 0; index < 95; index += 1) {
      await putSettledRow(own, `job-${index}`)
    }
    await openNamed(own, 'acme')
    let counts = 0
    const transact = async (writes: NamedWrites) => {
      counts += writes.audit === undefined ? 1 : 0
      if (counts === 2 && writes.audit === undefined) {
        throw new Error('out of reach')
      }
      await own.transact(writes)
    }
    await expect(runCommand(usageBackfill, { table: { ...own, transact } })).rejects.toThrow('out of reach')
    await runCommand(usageBackfill, { table: own })
    const { entries } = await readAudit(own, { limit: 10 })
    const counted = entries
      .filter(({ action }) => action === 'usage backfill')
      .map(({ after }) => Number(after?.settlements))
    expect(counted).toHaveLength(2)
    expect(counted[0]).toBeGreaterThan(0)
    expect(counted.reduce((sum, each) => sum + each, 0)).toBe(95)
  })

  it('refuses a tenant that does not exist', async () => {
    const options = { tenant: 'nobody' }
    await expect(runCommand(usageBackfill, { table: engine.table, options })).rejects.toThrow('no tenant nobody')
  })
})
