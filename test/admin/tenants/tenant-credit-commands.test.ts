import { beforeEach, describe, expect, it } from 'vitest'
import type { Table } from '#store/table/table.ts'
import { readCommandLine } from '../../../lib/cli/admin/command-line.ts'
import { COMMANDS } from '../../../lib/cli/admin/commands.ts'
import { ledgerShow } from '../../../lib/cli/admin/ledger.ts'
import { tenantAdjust, tenantGrant } from '../../../lib/cli/admin/tenants.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()
let table: Table
let tenant: TestTenant
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table, '10')
})

const REASON = { reason: 'granted twice' }

describe('tenant adjust', () => {
  it.each([
    ['--amount -5', '-5'],
    ['--amount=-5', '-5'],
    ['--amount -0.25', '-0.25'],
    ['--amount 5', '5'],
  ])('takes %s from the command line', (words, amount) => {
    const line = `tenant adjust --tenant demo ${words} --reason why`
    const { command, values } = { values: undefined, ...readCommandLine(line.split(' '), COMMANDS) }
    expect([command?.name, values?.text('amount'), values?.text('reason')]).toEqual(['tenant adjust', amount, 'why'])
  })

  it('corrects the credits of a tenant by its name, and the ledger shows the id and the reason', async () => {
    const options = { tenant: 'Test', amount: '-5', id: 'ticket-1', ...REASON }
    const { json } = await runCommand(tenantAdjust, { table, options })
    expect(json).toMatchObject({ id: tenant.tenantId, available: '5', granted: '5' })
    expect(json).not.toHaveProperty('webhook_secret')
    const ledger = await runCommand(ledgerShow, { table, options: { tenant: 'Test' } })
    expect(Object(ledger.json).entries[0]).toEqual({
      ...{ kind: 'adjust', job: null, amount: '-5', actual: null, at: expect.any(String) },
      ...{ id: 'ticket-1', reason: 'granted twice' },
    })
    expect(ledger.text).toMatch(/adjust +-5 .*ticket-1 +granted twice/)
  })

  it('is made once for each id, and says when nothing was changed', async () => {
    const warnings: string[] = []
    const warn = (sentence: string) => void warnings.push(sentence)
    const options = { tenant: tenant.tenantId, amount: '-8', id: 'ticket-1', ...REASON }
    const first = await runCommand(tenantAdjust, { table, options, warn })
    expect((await runCommand(tenantAdjust, { table, options, warn })).json).toEqual(first.json)
    expect(warnings).toEqual(['adjustment ticket-1 already exists: nothing was changed'])
  })

  it('goes below zero with --allow-debt alone', async () => {
    const options = { tenant: tenant.tenantId, amount: '-11', ...REASON }
    await expect(runCommand(tenantAdjust, { table, options })).rejects.toThrow('would leave -1')
    const { json } = await runCommand(tenantAdjust, { table, options: { ...options, 'allow-debt': true } })
    expect(json).toMatchObject({ available: '-1', granted: '-1' })
  })

  it.each([
    [{ amount: '0' }, '--amount 0: use an amount other than zero'],
    [{ reason: '' }, '--reason: use one line'],
    [{ id: 'a b' }, '--id: use up to 64 letters'],
    [{ tenant: 'nobody' }, 'no tenant nobody'],
  ])('refuses %j', async (wrong, message) => {
    const options = { tenant: tenant.tenantId, amount: '1', ...REASON, ...wrong }
    await expect(runCommand(tenantAdjust, { table, options })).rejects.toThrow(message)
  })
})

describe('tenant grant', () => {
  it('finds the tenant by its name, and its id stands in the ledger', async () => {
    const options = { tenant: 'Test', credits: '5', id: 'invoice-7' }
    expect(await runCommand(tenantGrant, { table, options })).toMatchObject({ json: { available: '15' } })
    const ledger = await runCommand(ledgerShow, { table, options: { tenant: 'Test' } })
    expect(Object(ledger.json).entries).toEqual(expect.arrayContaining([expect.objectContaining({ id: 'invoice-7' })]))
  })
})
