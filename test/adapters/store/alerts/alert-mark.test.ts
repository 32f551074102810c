import { describe, expect, it } from 'vitest'
import { latestAlerts } from '#adapters/store/alerts/alert.ts'
import { moveAlertMark, readAlertMark } from '#adapters/store/alerts/alert-mark.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'

const engine = useTestTable()

const KEY = { tenantId: 'acme', subject: 'key#k1' } as const

describe('alert-mark', () => {
  it('moves once for runs that read the same mark, and records one alert', async () => {
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

  it('moves without an alert, for a balance that is above its mark again', async () => {
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
