import { describe, expect, it } from 'vitest'
import { readAudit } from '#store/audit/read-audit.ts'
import { tenantBudget } from '../../../lib/cli/admin/tenants.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()

describe('tenant budget', () => {
  it('sets, shows and ends a budget, each with its entry in the audit log', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    const warnings: string[] = []
    const run = (options: Record<string, string | true>) =>
      runCommand(tenantBudget, {
        table,
        options: { tenant, ...options },
        warn: (sentence) => {
          warnings.push(sentence)
        },
      })
    const set = await run({ amount: '100', period: 'month' })
    expect(set.json).toMatchObject({ id: tenant, budget: { amount: '100', period: 'month', spent: '0', left: '100' } })
    expect(set.text).toContain('budget 100/month: 0 spent, 0 held, 100 left until ')
    expect(warnings).toEqual([])
    await run({ amount: '100', period: 'month' })
    expect(warnings).toEqual([`tenant ${tenant} has this budget already: nothing was changed`])
    expect((await run({ clear: true })).text).toBe(`tenant ${tenant}: no budget`)
    const { entries } = await readAudit(table, { limit: 10, targets: [tenant] })
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'tenant set', before: { budget: '100/month' }, after: { budget: null } },
      { action: 'tenant set', before: { budget: null }, after: { budget: '100/month' } },
    ])
  })

  it('without a change shows the budget and records nothing', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    expect(await runCommand(tenantBudget, { table, options: { tenant } })).toMatchObject({
      json: { id: tenant, budget: null },
      text: `tenant ${tenant}: no budget`,
    })
    expect((await readAudit(table, { limit: 10, targets: [tenant] })).entries).not.toContainEqual(
      expect.objectContaining({ action: 'tenant set' }),
    )
  })

  it('refuses an amount without a period', async () => {
    const { tenantId: tenant } = await openTenant(engine.table)
    const options = { tenant, amount: '5' }
    await expect(runCommand(tenantBudget, { table: engine.table, options })).rejects.toMatchObject({
      name: 'UsageError',
    })
  })
})
