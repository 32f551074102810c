import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { readSummary } from '#adapters/store/console/summary-store.ts'
import { summarize } from '#lambdas/pipeline/reconcile/summarize.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'

let engine: TestTable
beforeAll(async () => {
  engine = await startTestTable()
})
afterAll(() => engine.close())
afterEach(() => {
  delete process.env.CONSOLE_SUMMARY
})

describe('summarize', () => {
  it('writes nothing where the stage has no console, or the time of the run is over', async () => {
    const context = { table: engine.table, nowMilliseconds: Date.now }
    await summarize(context, () => true)
    process.env.CONSOLE_SUMMARY = 'stored'
    await summarize(context, () => false)
    expect(await readSummary(engine.table)).toBeUndefined()
  })

  it('writes the summary of all tenants', async () => {
    process.env.CONSOLE_SUMMARY = 'stored'
    const { tenantId } = await openTenant(engine.table)
    await summarize({ table: engine.table, nowMilliseconds: Date.now }, () => true)
    expect((await readSummary(engine.table))?.tenants.map(({ id }) => id)).toEqual([tenantId])
  })

  it('never fails a run', async () => {
    process.env.CONSOLE_SUMMARY = 'stored'
    const table = { ...engine.table, queryPage: () => Promise.reject(new Error('no table')) }
    await expect(summarize({ table, nowMilliseconds: Date.now }, () => true)).resolves.toBeUndefined()
  })
})
