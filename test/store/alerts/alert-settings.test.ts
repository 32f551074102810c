import { beforeEach, describe, expect, it } from '@jest/globals'
import { parseCredits } from '#core/money.ts'
import {
  type AlertSettingsChange,
  changeAlertSettings,
  readAlertSettings,
  readAlertView,
} from '#store/alerts/alert-settings.ts'
import { watchedItems } from '#store/alerts/alerts.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { Table } from '#store/table/table.ts'
import { collect } from '../../engines/budgets.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()
let table: Table
beforeEach(async () => {
  table = await engine.fresh()
})

const change = (id: string, wanted: AlertSettingsChange) =>
  changeAlertSettings(table, id, { change: wanted, actor: { name: 'alice', role: 'operator' } })

const entriesOfAlerts = async () =>
  (await readAudit(table, { limit: 10 })).entries.filter(({ action }) => action === 'tenant alerts')

describe('changeAlertSettings', () => {
  it('begins with defaults, keeps what a change leaves out, clears with null, and writes nothing that is so already', async () => {
    const { tenantId } = await openTenant(table)
    expect(await readAlertSettings(table, tenantId)).toEqual({ url: undefined, thresholds: [50, 80, 100] })
    await change(tenantId, { url: 'https://a.example/x', thresholds: [90], lowBalance: parseCredits('2') })
    await change(tenantId, { thresholds: null })
    expect(await readAlertView(table, tenantId)).toEqual({
      url: 'https://a.example/x',
      thresholds: [50, 80, 100],
      lowBalance: 2_000_000n,
    })
    await change(tenantId, { url: null, lowBalance: null })
    expect(await readAlertView(table, tenantId)).toEqual({
      url: undefined,
      thresholds: [50, 80, 100],
      lowBalance: undefined,
    })
    expect(await entriesOfAlerts()).toHaveLength(3)
    await change(tenantId, { thresholds: [50, 80, 100], url: null })
    expect(await entriesOfAlerts()).toHaveLength(3)
  })

  it('has a balance with a low mark watched from then on', async () => {
    const { tenantId } = await openTenant(table)
    await change(tenantId, { url: 'https://a.example/x' })
    expect(await collect(watchedItems(table))).toEqual([])
    await change(tenantId, { lowBalance: parseCredits('2') })
    expect((await collect(watchedItems(table))).flat()).toEqual([
      expect.objectContaining({ of: 'tenant', tenantId, lowBalance: 2_000_000n, budget: undefined }),
    ])
  })

  it('refuses a tenant that does not exist, and writes nothing', async () => {
    await expect(change('nobody', { lowBalance: parseCredits('2') })).rejects.toMatchObject({ code: 'not_found' })
    expect(await entriesOfAlerts()).toEqual([])
  })
})
