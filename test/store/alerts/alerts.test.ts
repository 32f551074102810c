import { beforeEach, describe, expect, it } from '@jest/globals'
import {
  claimAlert,
  dueAlerts,
  latestAlerts,
  moveAlertMark,
  type NewAlert,
  putAlert,
  readAlertMark,
  recordDelivery,
  watchedItems,
} from '#store/alerts/alerts.ts'
import type { Table } from '#store/table/table.ts'
import { collect, putKeyBudget, watchBalance } from '../../engines/budgets.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

describe('a stored alert', () => {
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

  async function claimed(at: number) {
    const alert = await claimAlert(table, await onlyDue(at), at + 50)
    if (alert === undefined) {
      throw new Error('not claimed')
    }
    return alert
  }

  const DELIVERED = { operators: 'delivered', tenant: 'delivered', tries: 1, retryAt: undefined } as const

  it('is due from the moment at which it is recorded', async () => {
    await record()
    expect(await due(AT - 1)).toEqual([])
    expect(await due(AT)).toHaveLength(1)
  })

  it('is claimed by one of two runs, and due again when the claim ends', async () => {
    await record()
    const found = await onlyDue(AT)
    const claims = await Promise.all([claimAlert(table, found, AT + 50), claimAlert(table, found, AT + 50)])
    expect(claims.filter((claim) => claim !== undefined)).toEqual([
      expect.objectContaining({ tenantId: 'acme', data: DATA, tries: 0, operators: 'due', tenant: 'due' }),
    ])
    expect(await due(AT + 49)).toEqual([])
    expect(await due(AT + 50)).toHaveLength(1)
  })

  it('leaves the index once it is delivered, and keeps its id', async () => {
    await record()
    const alert = await claimed(AT)
    await recordDelivery(table, alert, { operators: 'delivered', tenant: 'due', tries: 1, retryAt: AT + 60 })
    const again = await claimed(AT + 60)
    expect(again).toMatchObject({ id: alert.id, operators: 'delivered', tenant: 'due', tries: 1 })
    await recordDelivery(table, again, DELIVERED)
    expect(await due(AT * 2)).toEqual([])
    expect(await latestAlerts(table, 'acme', 5)).toMatchObject([{ id: alert.id, tenant: 'delivered' }])
  })

  it.each([
    ['has ended it', DELIVERED],
    ['will try it again', { operators: 'delivered', tenant: 'due', tries: 1, retryAt: AT + 200 }],
  ] as const)('ignores what a late run says of it after another run claimed it and %s', async (_, outcome) => {
    await record()
    const late = await claimed(AT)
    const next = await claimed(AT + 50)
    await recordDelivery(table, next, outcome)
    const before = await latestAlerts(table, 'acme', 5)
    await recordDelivery(table, late, { operators: 'due', tenant: 'due', tries: 1, retryAt: AT + 60 })
    expect(await latestAlerts(table, 'acme', 5)).toEqual(before)
    expect(await due(AT + 199)).toEqual([])
  })

  it('is listed newest first, among those of its tenant only', async () => {
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

describe('moveAlertMark', () => {
  const engine = useTestTable()

  const KEY = { tenantId: 'acme', subject: 'key#k1' } as const

  it('moves the mark once for runs that read the same one, and records one alert', async () => {
    const { table } = engine
    const from = await readAlertMark(table, KEY)
    expect(from).toEqual({ version: 0, crossed: [], isArmed: true })
    const to = { period: '2026-11', crossed: [50], isArmed: true }
    const alert = { tenantId: 'acme', type: 'budget.threshold', at: 1, data: { threshold: 50 } } as const
    const moves = await Promise.all([1, 2, 3].map(() => moveAlertMark(table, { key: KEY, from, to, alert })))
    expect(moves.filter(Boolean)).toHaveLength(1)
    expect(await readAlertMark(table, KEY)).toEqual({ ...to, version: 1 })
    expect(await latestAlerts(table, 'acme', 10)).toHaveLength(1)
  })

  it('moves the mark without an alert, for a balance that is above its mark again', async () => {
    const { table } = engine
    const key = { tenantId: 'solo', subject: 'balance' } as const
    const from = await readAlertMark(table, key)
    expect(await moveAlertMark(table, { key, from, to: { crossed: [], isArmed: false } })).toBe(true)
    const moved = await readAlertMark(table, key)
    expect(await moveAlertMark(table, { key, from: moved, to: { crossed: [], isArmed: true } })).toBe(true)
    expect(await moveAlertMark(table, { key, from: moved, to: { crossed: [], isArmed: true } })).toBe(false)
    expect(await latestAlerts(table, 'solo', 10)).toEqual([])
  })
})

describe('watchedItems', () => {
  const engine = useTestTable()

  it('reads budgets of keys, and balances with a budget or a low mark, in batches of a hundred', async () => {
    const { table } = engine
    const { tenantId } = await openTenant(table, '7')
    await openTenant(table)
    await watchBalance(table, tenantId, { lowBalance: '5', budget: { spent: '1', periodId: '2026-11-22' } })
    for (let index = 0; index < 120; index += 1) {
      await putKeyBudget(table, tenantId, `k${index}`, { spent: '2', period: 'month', periodId: '2026-11' })
    }
    const batches = await collect(watchedItems(table))
    expect(batches.map(({ length }) => length)).toEqual([100, 21])
    expect(batches.flat()).toContainEqual({
      of: 'key',
      tenantId,
      budgetId: 'k7',
      budget: expect.objectContaining({
        amount: 10_000_000n,
        period: { kind: 'month', id: '2026-11' },
        spent: 2_000_000n,
      }),
    })
    expect(batches.flat()).toContainEqual({
      of: 'tenant',
      tenantId,
      available: 7_000_000n,
      held: 0n,
      lowBalance: 5_000_000n,
      budget: expect.objectContaining({ spent: 1_000_000n, period: { kind: 'day', id: '2026-11-22' } }),
    })
  })
})
