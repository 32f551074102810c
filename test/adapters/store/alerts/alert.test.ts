import { beforeEach, describe, expect, it } from 'vitest'
import {
  claimAlert,
  dueAlerts,
  latestAlerts,
  type NewAlert,
  putAlert,
  recordDelivery,
} from '#adapters/store/alerts/alert.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { collect } from '../../../engines/watched-items.ts'

const AT = 1_800_000_000_000
const DATA = { tenant: 'acme', key: null, threshold: 80, crossed: [50, 80], spent: '0.8' }

const engine = useTestTable()
let table: Table
beforeEach(async () => {
  table = await engine.fresh()
})

async function record(changes: Partial<NewAlert> = {}): Promise<void> {
  await table.transact({
    alert: putAlert({ tenantId: 'acme', type: 'budget.threshold', at: AT, data: DATA, ...changes }),
  })
}

const due = (at: number) => collect(dueAlerts(table, at))

async function onlyDue(at: number) {
  const [alert] = await due(at)
  if (alert === undefined) {
    throw new Error('no alert is due')
  }
  return alert
}

describe('alert', () => {
  it('is due from the moment at which it is recorded', async () => {
    await record()
    expect(await due(AT - 1)).toEqual([])
    expect(await due(AT)).toHaveLength(1)
  })

  it('claim-alert: of two runs one gets the alert, and it is due again when the claim ends', async () => {
    await record()
    const found = await onlyDue(AT)
    const claims = await Promise.all([claimAlert(table, found, AT + 50), claimAlert(table, found, AT + 50)])
    expect(claims.filter((claim) => claim !== undefined)).toEqual([
      expect.objectContaining({ tenantId: 'acme', data: DATA, tries: 0, operators: 'due', tenant: 'due' }),
    ])
    expect(await due(AT + 49)).toEqual([])
    expect(await due(AT + 50)).toHaveLength(1)
  })

  it('record-delivery: an alert that is delivered leaves the index, and keeps its id', async () => {
    await record()
    const alert = await claimAlert(table, await onlyDue(AT), AT + 50)
    if (alert === undefined) {
      throw new Error('not claimed')
    }
    await recordDelivery(table, alert, { operators: 'delivered', tenant: 'due', tries: 1, retryAt: AT + 60 })
    const again = await claimAlert(table, await onlyDue(AT + 60), AT + 110)
    expect(again).toMatchObject({ id: alert.id, operators: 'delivered', tenant: 'due', tries: 1 })
    await recordDelivery(table, alert, { operators: 'delivered', tenant: 'delivered', tries: 1, retryAt: undefined })
    expect(await due(AT * 2)).toEqual([])
    expect(await latestAlerts(table, 'acme', 5)).toMatchObject([{ id: alert.id, tenant: 'delivered' }])
  })

  it('latest-alerts: newest first, of one tenant only', async () => {
    for (const [tenantId, at] of [
      ['acme', AT],
      ['acme', AT + 1],
      ['other', AT + 2],
    ] as const) {
      await record({ tenantId, at })
    }
    expect((await latestAlerts(table, 'acme', 5)).map(({ at }) => at)).toEqual([AT + 1, AT])
    expect(await latestAlerts(table, 'acme', 1)).toHaveLength(1)
  })
})
