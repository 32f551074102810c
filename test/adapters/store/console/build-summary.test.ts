import { beforeEach, describe, expect, it } from 'vitest'
import { buildSummary, changedDays } from '#adapters/store/console/build-summary.ts'
import { readSummary, writeSummary } from '#adapters/store/console/summary-store.ts'
import { leftOutOf, type Summary } from '#core/admin/summary.ts'
import { formatCredits } from '#core/money.ts'
import { dayOf } from '#core/pricing/usage.ts'
import { settledJob } from '../../../engines/settled-job.ts'
import { type TestTable, useTestTable } from '../../../engines/start-test-table.ts'
import { openTenant, type TestTenant } from '../../../engines/video-jobs.ts'

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
      suspendedReason: null,
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
