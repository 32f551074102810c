import { afterEach, describe, expect, it } from 'vitest'
import { summarize } from '#lambdas/pipeline/reconcile/summarize.ts'
import { NEAR_BUDGETS_KEY, nearBudgetsOf, readSummary } from '#store/summary.ts'
import { captureTelemetry } from '../../engines/emitted-metrics.ts'
import { useTestTable } from '../../engines/test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

const telemetry = captureTelemetry()
const engine = useTestTable()
afterEach(() => {
  telemetry.reset()
  delete process.env.CONSOLE_SUMMARY
})

const hasTime = () => true

describe('summarize', () => {
  it('writes nothing where the stage has no console, or the time of the run is over', async () => {
    const context = { table: engine.table, nowMilliseconds: Date.now }
    await summarize(context, { near: [], hasTime })
    process.env.CONSOLE_SUMMARY = 'stored'
    await summarize(context, { near: [], hasTime: () => false })
    expect(await readSummary(engine.table)).toBeUndefined()
    expect(telemetry.counted()).toEqual(['summary_not_written'])
  })

  it('writes the summary of all tenants', async () => {
    process.env.CONSOLE_SUMMARY = 'stored'
    const { tenantId } = await openTenant(engine.table)
    await summarize({ table: engine.table, nowMilliseconds: Date.now }, { near: undefined, hasTime })
    expect((await readSummary(engine.table))?.tenants.map(({ id }) => id)).toEqual([tenantId])
  })

  it('lists the budgets of keys that are nearly spent, also where pages make the summary themselves', async () => {
    process.env.CONSOLE_SUMMARY = 'live'
    const table = await engine.fresh()
    const near = [{ tenantId: 'acme', budgetId: 'k1', percent: 93 }]
    await summarize({ table, nowMilliseconds: Date.now }, { near, hasTime })
    await summarize({ table, nowMilliseconds: Date.now }, { near: undefined, hasTime })
    expect(nearBudgetsOf(await table.readItem(NEAR_BUDGETS_KEY))).toEqual(near)
    expect(await readSummary(table)).toBeUndefined()
  })

  it('never fails a run, and counts that the summary was not written', async () => {
    process.env.CONSOLE_SUMMARY = 'stored'
    const table = { ...engine.table, queryPage: () => Promise.reject(new Error('no table')) }
    await expect(summarize({ table, nowMilliseconds: Date.now }, { near: [], hasTime })).resolves.toBeUndefined()
    expect(telemetry.counted()).toEqual(['summary_not_written'])
  })
})
