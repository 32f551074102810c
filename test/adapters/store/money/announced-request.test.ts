import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { putText } from '#adapters/store/bucket/video-bucket.ts'
import { announceRequest, dropAnnouncedRequest, takeAnnouncedRequest } from '#adapters/store/money/announced-request.ts'
import { pendingCleanUps } from '#adapters/store/money/due-index.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { startTestBucket, type TestBucket } from '../../../engines/start-test-bucket.ts'
import { startTestTable, type TestTable } from '../../../engines/start-test-table.ts'

const NOW = 1_000_000
const FIVE_MINUTES = 5 * 60 * 1000
const JOB = { tenantId: 'tenant', jobId: 'job' }
const KEY = 'requests/tenant/job.json'

let tables: TestTable
let bucket: TestBucket
let table: Table
beforeAll(async () => {
  ;[tables, bucket] = await Promise.all([startTestTable(), startTestBucket()])
})
beforeEach(async () => {
  table = await tables.fresh()
  await announceRequest(table, JOB, { bucketKey: KEY, nowMilliseconds: NOW })
  await putText(bucket.bucket, KEY, '{}')
})
afterAll(() => Promise.all([tables.close(), bucket.close()]))

const drop = () => dropAnnouncedRequest({ table, openBucket: () => bucket.bucket }, JOB)
const take = () => table.transact({ announcement: takeAnnouncedRequest(JOB) })

async function cleanUpsAt(milliseconds: number) {
  const found: unknown[] = []
  for await (const cleanUp of pendingCleanUps(table, milliseconds)) {
    found.push(cleanUp)
  }
  return found
}

describe('announced-request', () => {
  it('leads Reconcile to the object from five minutes after the announcement on', async () => {
    expect(await cleanUpsAt(NOW + FIVE_MINUTES - 1)).toEqual([])
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([{ ...JOB, of: 'request' }])
  })

  it('a request that was taken over is kept, and no longer announced', async () => {
    await take()
    await drop()
    expect(await bucket.keys()).toEqual([KEY])
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([])
  })

  it('a request is taken over once', async () => {
    await take()
    await expect(take()).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
  })

  it('a dropped request leaves nothing, and dropping it again is no error', async () => {
    await drop()
    await drop()
    expect(await bucket.keys()).toEqual([])
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([])
  })

  it('a request whose deletion failed can no longer be taken over, and is still announced', async () => {
    const openBucket = () => Promise.reject(new Error('no bucket'))
    await expect(dropAnnouncedRequest({ table, openBucket }, JOB)).rejects.toThrow('no bucket')
    await expect(take()).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([{ ...JOB, of: 'request' }])
    await drop()
    expect(await bucket.keys()).toEqual([])
  })
})
