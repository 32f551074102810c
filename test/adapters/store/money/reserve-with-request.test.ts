import { PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import type { Bucket, OpenBucket } from '#adapters/store/bucket/video-bucket.ts'
import { dropAnnouncedRequest } from '#adapters/store/money/announced-request.ts'
import { pendingCleanUps } from '#adapters/store/money/due-index.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { IdempotencyKeyTakenError } from '#adapters/store/money/reserve-quota.ts'
import { reserveWithRequest } from '#adapters/store/money/reserve-with-request.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { InsufficientQuotaError, InvalidApiKeyError, ServiceUnavailableError } from '#core/errors.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { startTestBucket, type TestBucket } from '../../../engines/start-test-bucket.ts'
import { startTestTable, type TestTable } from '../../../engines/start-test-table.ts'
import { TESTER } from '../../../engines/tester.ts'
import { newJob, openTenant, requireReservation, type TestTenant } from '../../../engines/video-jobs.ts'

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

describe('reserve-with-request', () => {
  it('a small request is stored in its reservation, and the bucket is not opened', async () => {
    const job = newJob(tenant)
    await reserve(job, noBucket)
    expect((await requireReservation(table, job)).request).toEqual(job.request)
  })

  it('a large request is in the bucket by the time its money is reserved, and nothing is left to clean up', async () => {
    const job = largeJob()
    await reserve(job)
    expect((await requireReservation(table, job)).request).toEqual({ bucketKey: keyOf(job) })
    expect(String(await bucket.bytes(keyOf(job)))).toBe(TEXT)
    expect(await leftovers()).toHaveLength(['object', 'job', 'reservation'].length)
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('a large request without funds is refused before it is stored', async () => {
    tenant = await openTenant(table, '0.699999')
    await expect(reserve(largeJob(), noBucket)).rejects.toBeInstanceOf(InsufficientQuotaError)
    expect(await leftovers()).toEqual([])
  })

  it('a repeated large request is recognised before funds are judged, and is not stored again', async () => {
    const now = Math.trunc(Date.now() / 1000)
    const idempotency = { digest: 'd', bodyHash: 'b', expiresAt: now + 60 }
    await reserve(largeJob({ idempotency }))
    await expect(reserve(largeJob({ idempotency }), noBucket)).rejects.toBeInstanceOf(IdempotencyKeyTakenError)
  })

  it('a large request that is refused after it was stored leaves nothing', async () => {
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    await expect(reserve(largeJob())).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await leftovers()).toEqual([])
  })

  it('a refused large request that cannot be deleted now is left to Reconcile, with the same refusal', async () => {
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

  it('a create whose request Reconcile dropped meanwhile makes no job, and can be sent again', async () => {
    const job = largeJob()
    const drop = () => dropAnnouncedRequest({ table, openBucket: () => bucket.bucket }, job)
    await expect(reserve(job, () => thenAfterPut(drop))).rejects.toBeInstanceOf(ServiceUnavailableError)
    expect(await leftovers()).toEqual([])
    await reserve(largeJob())
  })
})
