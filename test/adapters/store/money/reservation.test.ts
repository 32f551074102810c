import { beforeAll, describe, expect, it } from 'vitest'
import { getReservation, readReservationItem } from '#adapters/store/money/reservation.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import { openTenant, reserveJob } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

const ITEM = {
  amount: 700_000,
  state: 'held',
  snapshot: { billing: 'per_second', prices: [], quantityMax: 60 },
  tier: { resolution: '720P', audio: true, videoInput: false },
  request: '{}',
  keyId: 'k1',
  operation: 'create-video-job',
  restarts: 0,
}

describe('getReservation', () => {
  it('has all that a settlement needs, as the create froze it', async () => {
    const tenant = await openTenant(table)
    const { jobId, estimate, snapshot, tier, request } = await reserveJob(table, tenant)
    expect(await getReservation(table, tenant.tenantId, jobId)).toEqual({
      amount: estimate,
      state: 'held',
      snapshot,
      tier,
      request,
      keyId: tenant.keyDigest.slice(0, 8),
      operation: 'create-video-job',
      restarts: 0,
    })
  })

  it('names the budgets in which it counts', async () => {
    const item = { ...ITEM, budgetId: 'k1', budgetPeriod: 'day', tenantBudgetPeriod: 'month' }
    expect(readReservationItem(item)).toMatchObject({ budget: { id: 'k1', kind: 'day' }, tenantBudgetKind: 'month' })
    expect(readReservationItem(ITEM)).toMatchObject({ budget: undefined, tenantBudgetKind: undefined })
  })

  it('leads to a request in the bucket', async () => {
    const tenant = await openTenant(table)
    const { jobId } = await reserveJob(table, tenant, { request: { bucketKey: 'requests/1.json' } })
    expect(await getReservation(table, tenant.tenantId, jobId)).toMatchObject({
      request: { bucketKey: 'requests/1.json' },
    })
  })

  it('finds nothing of a job of another tenant', async () => {
    const { jobId } = await reserveJob(table, await openTenant(table))
    expect(await getReservation(table, (await openTenant(table)).tenantId, jobId)).toBeUndefined()
  })
})

describe('readReservationItem', () => {
  it.each([
    ['a state that does not exist', { state: 'paid' }],
    ['no prices', { snapshot: { billing: 'per_second' } }],
    ['a fraction of a microcredit', { amount: 0.5 }],
  ])('an item with %s is refused, and settles nothing', (_, changes) => {
    expect(() => readReservationItem({ ...ITEM, ...changes })).toThrow()
  })
})
