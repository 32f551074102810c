import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { putText } from '#adapters/store/bucket/video-bucket.ts'
import { dueReservations, pendingCleanUps } from '#adapters/store/money/due-index.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { cleanUpResolvedRequest, deleteResolvedRequest } from '#adapters/store/money/resolved-request.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { startTestBucket, type TestBucket } from '../../../engines/start-test-bucket.ts'
import { startTestTable, type TestTable } from '../../../engines/start-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob } from '../../../engines/video-jobs.ts'

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

describe('resolved-request', () => {
  it('a request in the bucket is due for Reconcile one minute after its resolution', async () => {
    const job = await createLarge()
    const now = Date.now()
    await resolve(job, now)
    expect(await cleanUpsAt(now + ONE_MINUTE - 1)).toEqual([])
    expect(await cleanUpsAt(now + ONE_MINUTE)).toEqual([job.jobId])
    expect(await openReservations()).toEqual([])
  })

  it('a request in the reservation itself leaves nothing to clean up', async () => {
    await resolve(await reserveJob(table, await openTenant(table)))
    expect([await cleanUpsAt(END_OF_TIME), await openReservations()]).toEqual([[], []])
  })

  it('is deleted from the bucket and the index, and deleting it again is no error', async () => {
    const job = await createLarge()
    await resolve(job)
    await cleanUpResolvedRequest(stores(), job)
    await cleanUpResolvedRequest(stores(), job)
    expect([await bucket.keys(), await cleanUpsAt(END_OF_TIME)]).toEqual([[], []])
  })

  it('stays due while the bucket does not delete it', async () => {
    const job = await createLarge()
    await resolve(job)
    const broken = { table, openBucket: () => Promise.reject(new Error('no bucket')) }
    await expect(cleanUpResolvedRequest(broken, job)).rejects.toThrow('no bucket')
    expect(await cleanUpsAt(END_OF_TIME)).toEqual([job.jobId])
  })

  it('the request of an open reservation is kept, and its reservation stays in the index', async () => {
    const job = await createLarge()
    await cleanUpResolvedRequest(stores(), job)
    expect(await bucket.keys()).toEqual([KEY])
    await deleteResolvedRequest(stores(), job, job.request)
    expect(await openReservations()).toEqual([job.jobId])
  })
})
