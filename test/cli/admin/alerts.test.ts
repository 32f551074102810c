import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { putAlert } from '#store/alerts/alerts.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { Table, TableWrite } from '#store/table/table.ts'
import { alertList, tenantAlerts } from '../../../lib/cli/admin/alerts.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { testCatalogue } from '../../engines/test-catalogue.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from './run-command.ts'

describe('tenant alerts', () => {
  const engine = useTestTable()
  let table: Table
  let tenant: string
  let warnings: string[]
  beforeEach(async () => {
    warnings = []
    table = await engine.fresh()
    tenant = (await openTenant(table)).tenantId
  })

  const entriesOfAlerts = async () =>
    (await readAudit(table, { limit: 10 })).entries.filter(({ action }) => action === 'tenant alerts')

  const dataDirectory = mkdtempSync(join(tmpdir(), 'reelgate-alerts-'))
  beforeAll(() => {
    const config = { ...testCatalogue().config, callback_allowlist: ['hooks.example.com'] }
    writeFileSync(join(dataDirectory, 'gateway.json'), JSON.stringify(config))
  })
  afterAll(() => rmSync(dataDirectory, { recursive: true }))

  const set = (options: Record<string, string>) =>
    runCommand(tenantAlerts, {
      table,
      local: true,
      dataDirectory,
      outputs: { BaseUrl: 'http://x' },
      warn: (sentence) => void warnings.push(sentence),
      options: { tenant, ...options },
    })

  it('shows the defaults without an entry in the audit log', async () => {
    expect((await set({})).json).toEqual({ tenant, url: null, thresholds: [50, 80, 100], low_balance: null })
    expect(await entriesOfAlerts()).toEqual([])
  })

  it('names no operators, who get nothing where a stage has no alarms', async () => {
    const { text } = await set({})
    expect(text).toMatch(/url of the tenant +none\n/)
    expect(text).not.toContain('operators')
  })

  it('changes the settings, and records who did so without the path of the url', async () => {
    const url = 'https://hooks.example.com/secret-path'
    const { json } = await set({ url, thresholds: '90, 75,90', 'low-balance': '5' })
    expect(json).toEqual({ tenant, url, thresholds: [75, 90], low_balance: '5' })
    expect(warnings).toEqual([])
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

  it('warns of a url that the running configuration does not allow', async () => {
    await set({ url: 'https://other.example/spend' })
    expect(warnings).toEqual([
      expect.stringContaining('`callback_allowlist` of the running configuration does not allow it'),
    ])
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
  const engine = useTestTable()

  /** As delivery leaves an alert that has no topic and reached the tenant's url. */
  function withoutTopic(write: TableWrite): TableWrite {
    const put = 'Put' in write ? write.Put : undefined
    return { Put: { ...put, Item: { ...put?.Item, operators: 'unwanted', tenant: 'delivered' } } }
  }

  it('shows the latest alerts and how they were delivered', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    const data = { tenant, key: null, threshold: 80, crossed: [50, 80], spent: '8', amount: '10', period: 'month' }
    await table.transact({
      alert: putAlert({ tenantId: tenant, type: 'budget.threshold', at: 1_800_000_000_000, data }),
    })
    const { json, text } = await runCommand(alertList, { table, options: { tenant } })
    expect(Object(json).alerts).toEqual([
      expect.objectContaining({ at: '2027-01-15T08:00:00.000Z', type: 'budget.threshold', data, operators: 'due' }),
    ])
    expect(text).toContain('50, 80 % of the tenant: 8 of 10 (month)')
    expect(text).toMatch(/ due +due +evt_/)
  })

  it('shows a dash for a receiver that does not exist', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    const data = { tenant, available: '4', threshold: '5' }
    const alert = putAlert({ tenantId: tenant, type: 'balance.low', at: 1_800_000_000_000, data })
    await table.transact({ alert: withoutTopic(alert) })
    const { text } = await runCommand(alertList, { table, options: { tenant } })
    expect(text.split('\n')[1]).toMatch(/ 4 available, below 5 +- +delivered +evt_/)
  })
})
