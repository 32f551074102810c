import { beforeEach, describe, expect, it } from '@jest/globals'
import { leftOutOf, type SummarizedTenant, type Summary } from '#core/admin/summary.ts'
import { formatCredits, microcredits } from '#core/money.ts'
import { dayOf } from '#core/pricing/usage.ts'
import {
  buildSummary,
  changedDays,
  keepNearBudgets,
  NEAR_BUDGETS_KEY,
  nearBudgetsOf,
  readSummary,
  writeSummary,
} from '#store/summary.ts'
import type { Table } from '#store/table/table.ts'
import { startTestTable, type TestTable } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, settledJob, type TestTenant } from '../engines/video-jobs.ts'

describe('the summary of all tenants:', () => {
  const engine = useTestTable()
  let tenants: readonly TestTenant[]
  beforeEach(async () => {
    tenants = [await openTenant(engine.table), await openTenant(engine.table)]
  })

  const build = (previous?: Summary, table: Parameters<typeof buildSummary>[0] = engine.table) =>
    buildSummary(table, { previous, nowMilliseconds: Date.now() })

  const costOf = (summary: Summary | undefined, tenantId = '') =>
    (summary?.days.get(dayOf(Date.now()))?.get(tenantId) ?? []).map(({ cost }) => formatCredits(cost))

  /** Counts the queries of usage counters. */
  function watched() {
    const counted: string[] = []
    const queryPage: TestTable['table']['queryPage'] = (query, startKey) => {
      const partition = String(query.ExpressionAttributeValues?.[':pk'])
      if (partition.startsWith('U#')) {
        counted.push(partition.slice(2))
      }
      return engine.table.queryPage(query, startKey)
    }
    return { counted, table: { ...engine.table, queryPage } }
  }

  describe('buildSummary', () => {
    it('holds every tenant with its balance, and the usage of today', async () => {
      const [tenant] = tenants
      await settledJob(engine.table, tenant as TestTenant, { bill: '0.1' })
      const summary = await build()
      expect(summary.tenants.find(({ id }) => id === tenant?.tenantId)).toMatchObject({
        name: 'Test',
        state: 'active',
        openJobs: { count: 0 },
        suspension: null,
      })
      expect(costOf(summary, tenant?.tenantId)).toEqual(['0.1'])
    })

    it('reads the usage of those tenants alone that have spent something since', async () => {
      const [first, second] = tenants as [TestTenant, TestTenant]
      await settledJob(engine.table, first, { bill: '0.1' })
      const before = await build()
      await settledJob(engine.table, second, { bill: '0.2' })
      const { counted, table } = watched()
      const after = await build(before, table)
      expect(counted).toEqual([second.tenantId])
      expect([costOf(after, first.tenantId), costOf(after, second.tenantId)]).toEqual([['0.1'], ['0.2']])
      expect(changedDays(before, after)).toEqual([dayOf(Date.now())])
      expect(changedDays(after, await build(after))).toEqual([])
    })

    it('leaves what it has no time for to the next summary', async () => {
      const [tenant] = tenants as [TestTenant]
      await settledJob(engine.table, tenant, { bill: '0.1' })
      const nowMilliseconds = Date.now()
      const first = await buildSummary(engine.table, { previous: undefined, nowMilliseconds, hasTime: () => false })
      expect(costOf(first, tenant.tenantId)).toEqual([])
      expect(leftOutOf(first)).toContain(tenant.tenantId)
      const second = await build(first)
      expect([costOf(second, tenant.tenantId), leftOutOf(second)]).toEqual([['0.1'], null])
    })

    it('keeps the rows of a tenant with too many counters, names the tenant, and reads all of its days when they fit', async () => {
      const [tenant] = tenants as [TestTenant]
      await settledJob(engine.table, tenant, { bill: '0.1' })
      const before = await build()
      await settledJob(engine.table, tenant, { bill: '0.2' })
      const queryPage: TestTable['table']['queryPage'] = async (query, startKey) => {
        const isOfTenant = query.ExpressionAttributeValues?.[':pk'] === `U#${tenant.tenantId}`
        return isOfTenant ? { items: [], nextKey: { PK: 'more' } } : await engine.table.queryPage(query, startKey)
      }
      const tooMany = await build(before, { ...engine.table, queryPage })
      expect([costOf(tooMany, tenant.tenantId), changedDays(before, tooMany)]).toEqual([['0.1'], []])
      expect(leftOutOf(tooMany)).toContain(tenant.tenantId)
      const nowMilliseconds = Date.now() + 60 * 60 * 1000
      const after = await buildSummary(engine.table, { previous: tooMany, nowMilliseconds })
      expect([costOf(after, tenant.tenantId), leftOutOf(after)]).toEqual([['0.3'], null])
    })
  })

  describe('writeSummary', () => {
    it('is read as it was written, amounts exactly', async () => {
      const [tenant] = tenants as [TestTenant]
      await settledJob(engine.table, tenant, { bill: '0.123456' })
      const summary = await build()
      await writeSummary(engine.table, summary, undefined)
      expect(await readSummary(engine.table)).toEqual(summary)
    })

    it.each([0, 1, 2])(
      'that breaks off after %i of its writes is made good by the next run, to the last digit',
      async (done) => {
        const [tenant] = tenants as [TestTenant]
        await settledJob(engine.table, tenant, { bill: '0.1' })
        const before = await build(await readSummary(engine.table))
        await writeSummary(engine.table, before, undefined)
        await settledJob(engine.table, tenant, { bill: '0.000021' })
        let left = done
        const updateItem: TestTable['table']['updateItem'] = (update) =>
          left-- > 0 ? engine.table.updateItem(update) : Promise.reject(new Error('the run was killed'))
        const killed = writeSummary({ updateItem }, await build(before), before)
        await expect(killed).rejects.toThrow('killed')
        const previous = await readSummary(engine.table)
        await writeSummary(engine.table, await build(previous), previous)
        const read = await readSummary(engine.table)
        expect([costOf(read, tenant.tenantId), read && leftOutOf(read)]).toEqual([['0.100021'], null])
      },
    )
  })
})

describe('buildSummary, turn by turn', () => {
  const NOW = Date.parse('2026-11-22T12:00:00Z')
  const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000]

  /** A table of tenants that all have spent the same, and the ranges of counters that were asked for. */
  class SpendingTable implements Pick<Table, 'readItem' | 'readItems' | 'queryPage'> {
    spent = 1
    readonly asked = new Map<string, string[]>()
    isTooLarge = false
    readonly #ids: readonly string[]

    constructor(count: number) {
      this.#ids = Array.from({ length: count }, (_, index) => `t${String(index).padStart(4, '0')}`)
    }

    readItem: Table['readItem'] = async () => undefined

    readItems: Table['readItems'] = async (keys) =>
      keys.map((key) => ({
        ...key,
        available: 1,
        held: 0,
        spent: this.spent,
        granted: 1,
        state: 'active',
        openJobs: 0,
      }))

    queryPage: Table['queryPage'] = async ({ ExpressionAttributeValues: values = {} }) => {
      const partition = String(values[':pk'])
      if (partition === 'TENANTS') {
        return {
          items: this.#ids.map((id) => ({ PK: partition, SK: id, name: id, webhookSecret: 's', createdAt: 1 })),
          nextKey: undefined,
        }
      }
      if (!partition.startsWith('U#')) {
        return { items: [], nextKey: undefined }
      }
      const id = partition.slice(2)
      this.asked.set(id, [...(this.asked.get(id) ?? []), String(values[':from']).slice(0, 10)])
      return this.isTooLarge
        ? { items: [], nextKey: { PK: 'more' } }
        : { items: [{ SK: '2026-11-22#k#create-image#m', requests: 1, cost: this.spent }], nextKey: undefined }
    }
  }

  const build = (table: SpendingTable, nowMilliseconds: number, previous?: Summary) =>
    buildSummary(table, { previous, nowMilliseconds })

  it('reads 200 tenants, and next those that have waited longest, though all spend all the time', async () => {
    const table = new SpendingTable(450)
    let summary: Summary | undefined
    for (const minute of [0, 1, 2]) {
      table.spent += 1
      summary = await build(table, NOW + minute * MINUTE, summary)
      expect(table.asked.size).toBe(Math.min(450, 200 * (minute + 1)))
    }
    expect(summary && leftOutOf(summary)).toBeNull()
  })

  it('reads a tenant that was passed over for days from the day of its last reading on', async () => {
    const table = new SpendingTable(1)
    const first = await build(table, NOW)
    table.spent = 2
    const without = await buildSummary(table, { previous: first, nowMilliseconds: NOW + 3 * DAY, hasTime: () => false })
    await build(table, NOW + 3 * DAY + MINUTE, without)
    expect(table.asked.get('t0000')).toEqual(['2026-10-23', '2026-11-21'])
  })

  it('asks for too many counters with eight queries an hour, and not a minute', async () => {
    const table = new SpendingTable(1)
    table.isTooLarge = true
    let summary = await build(table, NOW)
    for (const at of [MINUTE, HOUR - 1, HOUR]) {
      summary = await build(table, NOW + at, summary)
    }
    expect(table.asked.get('t0000')).toHaveLength(16)
    expect(leftOutOf(summary)).toMatch(/^usage of t0000, not/)
  })
})

describe('writeSummary for 6,000 tenants', () => {
  it('writeSummary keeps 6,000 tenants in items below the limit of the table, and writes those items alone that changed', async () => {
    const engine = await startTestTable()
    const tenants = Array.from({ length: 6_000 }, (_, index): SummarizedTenant => {
      const amount = microcredits(index * 7_919)
      return {
        ...{
          id: crypto.randomUUID(),
          name: `Tenant ${index}`,
          state: 'active',
          suspension: null,
          createdAt: index,
        },
        balance: { available: amount, held: amount, spent: amount, granted: amount },
        ...{ openJobs: { count: index, max: null }, budget: null, lowBalance: null, countedSpent: amount },
      }
    })
    try {
      await writeSummary(engine.table, { asOf: 17, tenants, days: new Map() }, undefined)
      expect(await readSummary(engine.table)).toEqual({ asOf: 17, tenants, days: new Map() })
      const written: unknown[] = []
      const updateItem: typeof engine.table.updateItem = (update) => {
        written.push(update.Key.SK)
        return engine.table.updateItem(update)
      }
      const previous = { asOf: 17, tenants, days: new Map() }
      const moved = tenants.map((tenant, index) => (index === 2_500 ? { ...tenant, name: 'Moved' } : tenant))
      await writeSummary(
        { updateItem },
        { asOf: 18, tenants: tenants.map((tenant) => ({ ...tenant })), days: new Map() },
        previous,
      )
      await writeSummary({ updateItem }, { asOf: 19, tenants: moved, days: new Map() }, previous)
      expect(written).toEqual(['HEAD', 'TENANTS#001', 'HEAD'])
    } finally {
      await engine.close()
    }
  })
})

const engine = useTestTable()

const near = (tenantId: string, percent: number) => ({ tenantId, budgetId: `k${percent}`, percent })

it('keepNearBudgets lists the most spent first, at most a hundred, and writes only what has changed', async () => {
  const { table } = engine
  let writes = 0
  const counted = {
    ...table,
    updateItem: async (...parameters: Parameters<typeof table.updateItem>) => {
      writes += 1
      return await table.updateItem(...parameters)
    },
  }
  const listed = async (tenantId?: string) =>
    nearBudgetsOf(await table.readItem(NEAR_BUDGETS_KEY), tenantId).map(({ percent }) => percent)
  await keepNearBudgets(counted, [])
  expect([writes, await listed()]).toEqual([0, []])
  await keepNearBudgets(counted, [near('acme', 80), near('other', 120), near('acme', 95)])
  await keepNearBudgets(counted, [near('acme', 95), near('acme', 80), near('other', 120)])
  expect([writes, await listed(), await listed('acme')]).toEqual([1, [120, 95, 80], [95, 80]])
  await keepNearBudgets(
    counted,
    Array.from({ length: 101 }, (_, index) => near('acme', 100 + index)),
  )
  expect([(await listed()).length, (await listed()).at(-1)]).toEqual([100, 101])
  await keepNearBudgets(counted, [])
  expect(await listed()).toEqual([])
})
