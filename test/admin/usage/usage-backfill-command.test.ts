import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createTenant } from '#adapters/store/accounts/create-tenant.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { parseCredits } from '#core/money/money.ts'
import { usageBackfill } from '../../../lib/admin/usage/usage-backfill-command.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { runCommand } from '../command-line/run-command.ts'
import { putSettledRow } from './settle-rows.ts'

let engine: TestTable
beforeAll(async () => {
  engine = await startTestTable()
  const credits = parseCredits('1')
  for (const id of ['acme', 'idle']) {
    await createTenant(
      engine.table,
      { id, name: id, webhookSecret: 's', credits, grantId: 'g', nowMilliseconds: 0 },
      TESTER,
    )
  }
})
afterAll(() => engine.close())

describe('usage backfill', () => {
  it('counts the rows of every tenant and says how many; a repeat finds none', async () => {
    await putSettledRow(engine.table, 'a')
    const first = await runCommand(usageBackfill, { table: engine.table })
    expect(first.text).toBe('acme: 1\n1 settlements counted')
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

  it('refuses a tenant that does not exist', async () => {
    const options = { tenant: 'nobody' }
    await expect(runCommand(usageBackfill, { table: engine.table, options })).rejects.toThrow('no tenant nobody')
  })
})
