import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { putAlert } from '#adapters/store/alerts/alert.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { alertList, tenantAlerts } from '../../../lib/admin/alerts/alert-commands.ts'
import { UsageError } from '../../../lib/terminal/usage-error.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

let engine: TestTable
let table: Table
let tenant: string
beforeAll(async () => {
  engine = await startTestTable()
})
beforeEach(async () => {
  table = await engine.fresh()
  tenant = (await openTenant(table)).tenantId
})
afterAll(() => engine.close())

const entriesOfAlerts = async () =>
  (await readAudit(table, { limit: 10 })).entries.filter(({ action }) => action === 'tenant alerts')

const set = (options: Record<string, string>) => runCommand(tenantAlerts, { table, options: { tenant, ...options } })

describe('tenant alerts', () => {
  it('shows the defaults without an entry in the audit log', async () => {
    expect((await set({})).json).toEqual({ tenant, url: null, thresholds: [50, 80, 100], low_balance: null })
    expect(await entriesOfAlerts()).toEqual([])
  })

  it('changes the settings, and records who did so without the path of the url', async () => {
    const url = 'https://hooks.example.com/secret-path'
    const { json } = await set({ url, thresholds: '90, 75,90', 'low-balance': '5' })
    expect(json).toEqual({ tenant, url, thresholds: [75, 90], low_balance: '5' })
    const entries = await entriesOfAlerts()
    expect(entries).toMatchObject([
      {
        actor: 'tester@test',
        action: 'tenant alerts',
        target: tenant,
        before: { alertOrigin: null, thresholds: ['50', '80', '100'], lowBalance: null },
        after: { alertOrigin: 'https://hooks.example.com', thresholds: ['75', '90'], lowBalance: '5' },
      },
    ])
    expect(JSON.stringify(entries)).not.toContain('secret-path')
    expect((await set({ url: 'none', thresholds: 'default', 'low-balance': 'none' })).json).toMatchObject({
      url: null,
      thresholds: [50, 80, 100],
      low_balance: null,
    })
  })

  it('records only the settings that change', async () => {
    await set({ url: 'https://hooks.example.com/secret-path' })
    await set({ 'low-balance': '5' })
    const [entry] = await entriesOfAlerts()
    expect(entry).toMatchObject({ before: { lowBalance: null }, after: { lowBalance: '5' } })
    expect(Object.keys({ ...entry?.before })).toEqual(['lowBalance'])
  })

  it.each([
    [{ url: 'ftp://a.example' }, '--url: use an https url, or none'],
    [{ url: 'https://user:pw@a.example/' }, '--url: must be an https url'],
    [{ thresholds: '0,50' }, 'whole percentages from 1 to 200'],
    [{ thresholds: '50.5' }, 'whole percentages from 1 to 200'],
    [{ thresholds: '1,2,3,4,5,6,7,8,9,10,11' }, 'up to 10'],
    [{ 'low-balance': 'much' }, '--low-balance'],
  ])('%j is refused', async (options, message) => {
    const refused = set(options)
    await expect(refused).rejects.toThrow(UsageError)
    await expect(refused).rejects.toThrow(message)
  })
})

describe('alert list', () => {
  it('shows the latest alerts and how they were delivered', async () => {
    const data = { tenant, key: null, threshold: 80, spent: '8', amount: '10', period: 'month' }
    await table.transact({
      alert: putAlert({ tenantId: tenant, type: 'budget.threshold', at: 1_800_000_000_000, data }),
    })
    const { json, text } = await runCommand(alertList, { table, options: { tenant } })
    expect(Object(json).alerts).toEqual([
      expect.objectContaining({ at: '2027-01-15T08:00:00.000Z', type: 'budget.threshold', data, operators: 'due' }),
    ])
    expect(text).toContain('80 % of the tenant: 8 of 10 (month)')
  })
})
