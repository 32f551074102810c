import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { putText } from '#store/bucket/bucket.ts'
import { dueReservations, pendingCleanUps } from '#store/due-index.ts'
import {
  cleanUpResolvedRequest,
  deleteResolvedRequest,
  getReservation,
  readReservationItem,
} from '#store/job-ledger/reservation.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import type { Table } from '#store/table/table.ts'
import { startTestBucket, type TestBucket } from '../../engines/test-bucket.ts'
import { startTestTable, type TestTable } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob } from '../../engines/video-jobs.ts'

describe('readers of reservations:', () => {
  const { table } = useTestTable()

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
    ])('refuses an item with %s, which settles nothing', (_, changes) => {
      expect(() => readReservationItem({ ...ITEM, ...changes })).toThrow()
    })
  })
})

describe('cleanUpResolvedRequest', () => {
  const KEY = 'requests/1.json'
  const ONE_MINUTE = 60_000
  const END_OF_TIME = 999_999_999_999_999

  let tables: TestTable
  let bucket: TestBucket
  let table: Table
  beforeAll(async () => {
    ;[tables, bucket] = await Promise.all([startTestTable(), startTestBucket()])
  })
  beforeEach(async () => {
    table = await tables.fresh()
    await putText(bucket.bucket, KEY, '{}')
  })
  afterAll(() => Promise.all([tables.close(), bucket.close()]))

  const stores = () => ({ table, openBucket: () => bucket.bucket })
  const createLarge = async () => reserveJob(table, await openTenant(table), { request: { bucketKey: KEY } })

  async function resolve(job: NewVideoJob, nowMilliseconds = Date.now()): Promise<void> {
    const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
    await resolveReservation(table, { ...record, resolution: RELEASE, nowMilliseconds })
  }

  async function idsOf(due: AsyncIterable<{ readonly tenantId: string; readonly jobId?: string }>) {
    const ids: unknown[] = []
    for await (const { jobId } of due) {
      ids.push(jobId)
    }
    return ids
  }

  const cleanUpsAt = (milliseconds: number) => idsOf(pendingCleanUps(table, milliseconds))
  const openReservations = () => idsOf(dueReservations(table, END_OF_TIME))

  it('finds a request in the bucket due for Reconcile one minute after its resolution', async () => {
    const job = await createLarge()
    const now = Date.now()
    await resolve(job, now)
    expect(await cleanUpsAt(now + ONE_MINUTE - 1)).toEqual([])
    expect(await cleanUpsAt(now + ONE_MINUTE)).toEqual([job.jobId])
    expect(await openReservations()).toEqual([])
  })

  it('finds nothing to clean up of a request in the reservation itself', async () => {
    await resolve(await reserveJob(table, await openTenant(table)))
    expect([await cleanUpsAt(END_OF_TIME), await openReservations()]).toEqual([[], []])
  })

  it('deletes a request from the bucket and the index, and deleting it again is no error', async () => {
    const job = await createLarge()
    await resolve(job)
    await cleanUpResolvedRequest(stores(), job)
    await cleanUpResolvedRequest(stores(), job)
    expect([await bucket.keys(), await cleanUpsAt(END_OF_TIME)]).toEqual([[], []])
  })

  it('leaves a request due while the bucket does not delete it', async () => {
    const job = await createLarge()
    await resolve(job)
    const broken = { table, openBucket: () => Promise.reject(new Error('no bucket')) }
    await expect(cleanUpResolvedRequest(broken, job)).rejects.toThrow('no bucket')
    expect(await cleanUpsAt(END_OF_TIME)).toEqual([job.jobId])
  })

  it('keeps the request of an open reservation, and its reservation in the index', async () => {
    const job = await createLarge()
    await cleanUpResolvedRequest(stores(), job)
    expect(await bucket.keys()).toEqual([KEY])
    await deleteResolvedRequest(stores(), job, job.request)
    expect(await openReservations()).toEqual([job.jobId])
  })
})
