import { describe, expect, it } from 'vitest'
import { parseCredits } from '#core/money.ts'
import { countedUsage } from '#core/pricing/usage.ts'
import type { Table } from '#store/table/table.ts'
import { countUsage } from '#store/usage.ts'
import { readUsage } from '../../../lib/cli/admin/usage.ts'
import { useTestTable } from '../../engines/start-test-table.ts'

const engine = useTestTable()

async function settle(table: Table, tenantId: string, day: string): Promise<void> {
  const settlement = { tenantId, at: Date.parse(day), keyId: 'key1', operation: 'create-image', model: 'm' }
  await table.transact(countUsage([{ ...settlement, usage: countedUsage({}), actual: parseCredits('0.01') }]))
}

describe('readUsage', () => {
  it('asks one query for each tenant, and leaves out tenants without usage in the range', async () => {
    const { table } = engine
    await settle(table, 'a', '2026-11-01')
    await settle(table, 'a', '2026-11-02')
    await settle(table, 'b', '2026-10-31')
    await settle(table, 'c', '2026-11-01')
    let queries = 0
    const counting: Table = {
      ...table,
      queryPage: (query, startKey) => {
        queries += 1
        return table.queryPage(query, startKey)
      },
    }
    const tenants = ['a', 'b', 'c'].map((id) => ({ id, name: id }))
    const found = []
    for await (const used of readUsage(counting, tenants, { from: '2026-11-01', to: '2026-11-30', by: ['day'] })) {
      found.push([used.tenant.id, used.groups.length, used.total.cost])
    }
    expect(found).toEqual([
      ['a', 2, 20_000n],
      ['c', 1, 10_000n],
    ])
    expect(queries).toBe(3)
  })
})
