import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readUsageCounters } from '#adapters/store/money/usage-counters.ts'
import { ConditionsNotMetError } from '#adapters/store/table/conditions-not-met-error.ts'
import type { NamedWrites, Table } from '#adapters/store/table/table.ts'
import { ServiceUnavailableError } from '#core/errors.ts'
import { checkCounters } from '#lambdas/admin/ledger/verify-counters.ts'
import { backfillUsage } from '../../../lib/admin/usage/backfill-usage.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { putSettledRow } from './settle-rows.ts'

let engine: TestTable
let table: TableWithClient
beforeAll(async () => {
  engine = await startTestTable()
})
beforeEach(async () => {
  table = await engine.fresh()
})
afterAll(() => engine.close())

async function backfill(of: Table = table): Promise<number[]> {
  const counts: number[] = []
  for await (const rows of backfillUsage(of, 'acme')) {
    counts.push(rows)
  }
  return counts
}

const counters = () => readUsageCounters(table, 'acme', { from: '2026-01-01', to: '2026-12-31' })

/** Does something before the first transaction. */
function interrupted(before: () => Promise<void>): Table {
  let isFirst = true
  return {
    ...table,
    transact: async (writes: NamedWrites) => {
      if (isFirst) {
        isFirst = false
        await before()
      }
      await table.transact(writes)
    },
  }
}

describe('backfillUsage', () => {
  it('counts each row without a mark once, with `unknown` for what it does not say', async () => {
    await putSettledRow(table, 'a')
    await putSettledRow(table, 'b')
    await putSettledRow(table, 'video', { model: undefined, reservedAt: undefined })
    expect(await backfill()).toEqual([3])
    expect(await counters()).toMatchObject([
      { day: '2026-11-22', keyId: 'unknown', operation: 'unknown', model: 'm', requests: 2, cost: 6n },
      { day: '2026-11-22', keyId: 'unknown', operation: 'unknown', model: 'unknown', requests: 1, cost: 3n },
    ])
    expect(await checkCounters(table, 'acme')).toEqual([])
    expect(await backfill()).toEqual([])
    expect(await counters()).toMatchObject([{ requests: 2 }, { requests: 1 }])
  })

  it('leaves out counted rows, bills of zero, and rows of other kinds', async () => {
    await putSettledRow(table, 'counted', { counted: true })
    await putSettledRow(table, 'free', { actual: 0 })
    await putSettledRow(table, 'released', { kind: 'release', actual: undefined })
    expect(await backfill()).toEqual([])
    expect(await counters()).toEqual([])
  })

  it('writes at most ninety rows and a hundred items in a transaction', async () => {
    for (let index = 0; index < 100; index += 1) {
      await putSettledRow(table, `same${index}`)
    }
    expect(await backfill()).toEqual([90, 10])
    for (let index = 0; index < 60; index += 1) {
      await putSettledRow(table, `other${index}`, { model: `model${index}` })
    }
    expect(await backfill()).toEqual([50, 10])
    expect(await checkCounters(table, 'acme')).toEqual([])
  })

  it('counts a row once that another backfill counts at the same time', async () => {
    for (const job of ['a', 'b', 'c']) {
      await putSettledRow(table, job)
    }
    const both = await Promise.all([backfill(), backfill()])
    expect(both.flat().reduce((sum, rows) => sum + rows, 0)).toBe(3)
    expect(await counters()).toMatchObject([{ requests: 3, cost: 9n }])
  })

  it('goes on with the other rows where one was counted in between', async () => {
    await putSettledRow(table, 'a')
    await putSettledRow(table, 'b')
    const counts = await backfill(interrupted(() => putSettledRow(table, 'a', { counted: true, actual: 3 })))
    expect(counts).toEqual([1])
    expect(await counters()).toMatchObject([{ requests: 1, cost: 3n }])
  })

  it('can be repeated after a crash before or after a transaction', async () => {
    await putSettledRow(table, 'a')
    const fail = () => Promise.reject(new ServiceUnavailableError())
    await expect(backfill(interrupted(fail))).rejects.toThrow(ServiceUnavailableError)
    const lost: Table = { ...table, transact: async (writes) => table.transact(writes).then(fail) }
    await expect(backfill(lost)).rejects.toThrow(ServiceUnavailableError)
    expect(await backfill()).toEqual([])
    expect(await counters()).toMatchObject([{ requests: 1, cost: 3n }])
  })

  it('ends if every row of a batch was counted in between', async () => {
    await putSettledRow(table, 'a')
    const names = ['row a#2']
    const refusing: Table = { ...table, transact: () => Promise.reject(new ConditionsNotMetError(names)) }
    expect(await backfill(refusing)).toEqual([0])
  })
})
