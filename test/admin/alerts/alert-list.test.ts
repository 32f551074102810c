import { describe, expect, it } from 'vitest'
import { putAlert } from '#store/alerts/alerts.ts'
import type { TableWrite } from '#store/table/table.ts'
import { alertList } from '../../../lib/cli/admin/alerts.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()

/** As delivery leaves an alert that has no topic and reached the tenant's url. */
function withoutTopic(write: TableWrite): TableWrite {
  const put = 'Put' in write ? write.Put : undefined
  return { Put: { ...put, Item: { ...put?.Item, operators: 'unwanted', tenant: 'delivered' } } }
}

describe('alert list', () => {
  it('shows the latest alerts and how they were delivered', async () => {
    const { table } = engine
    const { tenantId: tenant } = await openTenant(table)
    const data = { tenant, key: null, threshold: 80, spent: '8', amount: '10', period: 'month' }
    await table.transact({
      alert: putAlert({ tenantId: tenant, type: 'budget.threshold', at: 1_800_000_000_000, data }),
    })
    const { json, text } = await runCommand(alertList, { table, options: { tenant } })
    expect(Object(json).alerts).toEqual([
      expect.objectContaining({ at: '2027-01-15T08:00:00.000Z', type: 'budget.threshold', data, operators: 'due' }),
    ])
    expect(text).toContain('80 % of the tenant: 8 of 10 (month)')
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
