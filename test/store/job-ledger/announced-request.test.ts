import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { InsufficientQuotaError, InvalidApiKeyError, ServiceUnavailableError } from '#core/errors.ts'
import { type Bucket, type OpenBucket, putText } from '#store/bucket/bucket.ts'
import { pendingCleanUps } from '#store/due-index.ts'
import { announceRequest, dropAnnouncedRequest, takeAnnouncedRequest } from '#store/job-ledger/announced-request.ts'
import { IdempotencyKeyTakenError } from '#store/job-ledger/idempotency-keys.ts'
import { type NewVideoJob, reserveWithRequest } from '#store/job-ledger/reserve-quota.ts'
import { revokeApiKey } from '#store/keys/revocation.ts'
import type { Table } from '#store/table/table.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import { startTestBucket, type TestBucket } from '../../engines/test-bucket.ts'
import { startTestTable, type TestTable } from '../../engines/test-table.ts'
import { newJob, openTenant, requireReservation, TESTER, type TestTenant } from '../../engines/video-jobs.ts'

describe('announceRequest', () => {
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

  it('leads Reconcile to the object from five minutes after the announcement on', async () => {
    expect(await cleanUpsAt(NOW + FIVE_MINUTES - 1)).toEqual([])
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([{ ...JOB, of: 'request' }])
  })

  it('keeps a request that was taken over, and announces it no longer', async () => {
    await take()
    await drop()
    expect(await bucket.keys()).toEqual([KEY])
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([])
  })

  it('lets a request be taken over once', async () => {
    await take()
    await expect(take()).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
  })

  it('leaves nothing of a dropped request, and dropping it again is no error', async () => {
    await drop()
    await drop()
    expect(await bucket.keys()).toEqual([])
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([])
  })

  it('still announces a request whose deletion failed, which can no longer be taken over', async () => {
    const openBucket = () => Promise.reject(new Error('no bucket'))
    await expect(dropAnnouncedRequest({ table, openBucket }, JOB)).rejects.toThrow('no bucket')
    await expect(take()).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    expect(await cleanUpsAt(NOW + FIVE_MINUTES)).toEqual([{ ...JOB, of: 'request' }])
    await drop()
    expect(await bucket.keys()).toEqual([])
  })
})

describe('reserveWithRequest', () => {
  const TEXT = '{"prompt":"a boat"}'
  const END_OF_TIME = 999_999_999_999_999

  let tables: TestTable
  let bucket: TestBucket
  let table: Table
  let tenant: TestTenant
  beforeAll(async () => {
    ;[tables, bucket] = await Promise.all([startTestTable(), startTestBucket()])
  })
  beforeEach(async () => {
    table = await tables.fresh()
    tenant = await openTenant(table, '0.7')
  })
  afterAll(() => Promise.all([tables.close(), bucket.close()]))

  const noBucket: OpenBucket = () => Promise.reject(new Error('the bucket was opened'))
  const keyOf = ({ tenantId, jobId }: NewVideoJob) => `requests/${tenantId}/${jobId}.json`

  function largeJob(changes: Partial<NewVideoJob> = {}): NewVideoJob {
    const job = newJob(tenant, changes)
    return { ...job, request: { bucketKey: keyOf(job) } }
  }

  const reserve = (job: NewVideoJob, openBucket: OpenBucket = () => bucket.bucket) =>
    reserveWithRequest({ table, openBucket, nowMilliseconds: Date.now }, job, TEXT)

  /** The bucket, in which this happens right after a request was stored. */
  function thenAfterPut(happen: () => Promise<void>): Bucket {
    const { client, name } = bucket.bucket
    const watched = Object.create(client)
    watched.send = async (command: object) => {
      const response = await Reflect.apply(client.send, client, [command])
      if (command instanceof PutObjectCommand) {
        await happen()
      }
      return response
    }
    return { client: watched, name }
  }

  /** Everything that a create could have left: objects, rows and clean-ups. */
  async function leftovers() {
    const cleanUps: unknown[] = []
    for await (const cleanUp of pendingCleanUps(table, END_OF_TIME)) {
      cleanUps.push(cleanUp)
    }
    const rows = await readPartition(table, `T#${tenant.tenantId}`)
    return [...(await bucket.keys(`requests/${tenant.tenantId}/`)), ...rows, ...cleanUps]
  }

  it('stores a small request in its reservation, and does not open the bucket', async () => {
    const job = newJob(tenant)
    await reserve(job, noBucket)
    expect((await requireReservation(table, job)).request).toEqual(job.request)
  })

  it('has a large request in the bucket by the time its money is reserved, and leaves nothing to clean up', async () => {
    const job = largeJob()
    await reserve(job)
    expect((await requireReservation(table, job)).request).toEqual({ bucketKey: keyOf(job) })
    expect(String(await bucket.bytes(keyOf(job)))).toBe(TEXT)
    expect(await leftovers()).toHaveLength(['object', 'job', 'reservation'].length)
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('refuses a large request without funds before it is stored', async () => {
    tenant = await openTenant(table, '0.699999')
    await expect(reserve(largeJob(), noBucket)).rejects.toBeInstanceOf(InsufficientQuotaError)
    expect(await leftovers()).toEqual([])
  })

  it('recognises a repeated large request before funds are judged, and does not store it again', async () => {
    const now = Math.trunc(Date.now() / 1000)
    const idempotency = { digest: 'd', bodyHash: 'b', expiresAt: now + 60 }
    await reserve(largeJob({ idempotency }))
    await expect(reserve(largeJob({ idempotency }), noBucket)).rejects.toBeInstanceOf(IdempotencyKeyTakenError)
  })

  it('takes a large request whose idempotency key has expired, though its item is still in the table', async () => {
    tenant = await openTenant(table, '1.4')
    const now = Math.trunc(Date.now() / 1000)
    const first = { digest: 'd', bodyHash: 'b', expiresAt: now + 60 }
    await reserve(largeJob({ createdAt: now, idempotency: first }))
    const again = largeJob({ createdAt: now + 60, idempotency: { ...first, expiresAt: now + 120 } })
    await reserve(again)
    expect((await requireReservation(table, again)).state).toBe('held')
  })

  it('leaves nothing of a large request that is refused after it was stored', async () => {
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    await expect(reserve(largeJob())).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await leftovers()).toEqual([])
  })

  it('leaves a refused large request that cannot be deleted now to Reconcile, with the same refusal', async () => {
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    const job = largeJob()
    let opened = 0
    const openBucket = () => {
      opened += 1
      return opened === 1 ? bucket.bucket : noBucket()
    }
    await expect(reserve(job, openBucket)).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await leftovers()).toContainEqual({ tenantId: job.tenantId, jobId: job.jobId, of: 'request' })
  })

  it('makes no job of a create whose request Reconcile dropped meanwhile, and lets it be sent again', async () => {
    const job = largeJob()
    const drop = () => dropAnnouncedRequest({ table, openBucket: () => bucket.bucket }, job)
    await expect(reserve(job, () => thenAfterPut(drop))).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(await leftovers()).toEqual([])
    await reserve(largeJob())
  })
})
