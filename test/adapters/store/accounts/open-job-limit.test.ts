import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { readAudit } from '#adapters/store/audit/read-audit.ts'
import { changeTenant } from '#adapters/store/money/change-tenant.ts'
import { IdempotencyKeyTakenError } from '#adapters/store/money/reserve-quota.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { InsufficientQuotaError, InvalidApiKeyError, TooManyOpenJobsError } from '#core/errors.ts'
import { requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { auditTenant } from '../../../engines/audit.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import { openTenant, RELEASE, requireReservation, reserveJob, type TestTenant } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
let tenant: TestTenant
beforeAll(async () => {
  table = engine.table
})
beforeEach(async () => {
  tenant = await openTenant(table)
})

const limit = (max: number | null) =>
  changeTenant(table, { tenantId: tenant.tenantId, settings: { openJobsMax: max }, actor: TESTER })
const openJobs = async () => (await getTenant(table, tenant.tenantId)).openJobs
const inOrder = async () => expect(await auditTenant(table, tenant.tenantId)).toEqual([])

async function release(job: { tenantId: string; jobId: string }): Promise<string> {
  const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
  return await resolveReservation(table, { ...record, resolution: RELEASE, nowMilliseconds: Date.now() })
}

async function change(Key: { PK: string; SK: string }, UpdateExpression: string): Promise<void> {
  await table.client.send(new UpdateCommand({ TableName: table.name, Key, UpdateExpression }))
}

describe('the open jobs of a tenant', () => {
  it('are counted from the reservation to its resolution, without a limit too', async () => {
    const [first] = [await reserveJob(table, tenant), await reserveJob(table, tenant)]
    expect(await openJobs()).toEqual({ count: 2, max: null })
    expect(await release(first)).toBe('resolved')
    expect(await release(first)).toBe('already_resolved')
    expect(await openJobs()).toEqual({ count: 1, max: null })
    await inOrder()
  })

  it('are never more than the limit, however many creates come at the same time', async () => {
    await limit(5)
    const outcomes = await Promise.allSettled(Array.from({ length: 30 }, () => reserveJob(table, tenant)))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(outcomes.length - refusals.length).toBe(5)
    expect(refusals.filter((error) => !(error instanceof TooManyOpenJobsError))).toEqual([])
    expect(await openJobs()).toEqual({ count: 5, max: 5 })
    await inOrder()
  })

  it('leave room for the next as soon as one has ended', async () => {
    await limit(1)
    const job = await reserveJob(table, tenant)
    await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(TooManyOpenJobsError)
    await release(job)
    await reserveJob(table, tenant)
    await inOrder()
  })
})

describe('at the limit', () => {
  const idempotency = { digest: 'd', bodyHash: 'b', expiresAt: 9_999_999_999 }

  it('a repeat of an accepted create finds its job', async () => {
    await limit(1)
    await reserveJob(table, tenant, { idempotency })
    await expect(reserveJob(table, tenant, { idempotency })).rejects.toBeInstanceOf(IdempotencyKeyTakenError)
  })

  it('a key that may not be used is told first, then missing funds, then the limit', async () => {
    await limit(0)
    await expect(reserveJob(table, tenant)).rejects.toMatchObject({
      statusCode: 429,
      message: 'too many open video jobs',
      retryAfterSeconds: 10,
    })
    const poor = await openTenant(table, '0.69')
    await changeTenant(table, { tenantId: poor.tenantId, settings: { openJobsMax: 0 }, actor: TESTER })
    await expect(reserveJob(table, poor)).rejects.toBeInstanceOf(InsufficientQuotaError)
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
  })
})

describe('a limit', () => {
  it('below what is open leaves the open jobs alone and refuses new ones, until it is taken away', async () => {
    await reserveJob(table, tenant)
    await reserveJob(table, tenant)
    await limit(1)
    await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(TooManyOpenJobsError)
    expect(await openJobs()).toEqual({ count: 2, max: 1 })
    await limit(null)
    await reserveJob(table, tenant)
    expect(await openJobs()).toEqual({ count: 3, max: null })
  })

  it.each([3, null])('set to %s makes a wrong count right, also if that was the limit before', async (max) => {
    await reserveJob(table, tenant)
    await reserveJob(table, tenant)
    await limit(max)
    await change(tableKeys.balance(tenant.tenantId), 'SET openJobs = held')
    await limit(max)
    expect(await openJobs()).toEqual({ count: 2, max })
    await inOrder()
  })

  it('recounts without taking a create or an end of the same moment for an error', async () => {
    const jobs = await Promise.all(Array.from({ length: 5 }, () => reserveJob(table, tenant)))
    await Promise.all([
      ...Array.from({ length: 5 }, (_, index) => limit(100 + index)),
      ...jobs.map(release),
      ...Array.from({ length: 5 }, () => reserveJob(table, tenant)),
    ])
    expect((await openJobs()).count).toBe(5)
    await inOrder()
  })

  it('is recorded when it changes, and not when it is the same', async () => {
    for (const max of [5, 5, null, null]) {
      await limit(max)
    }
    const { entries } = await readAudit(table, { limit: 10, targets: [tenant.tenantId] })
    expect(entries.filter(({ action }) => action === 'tenant set')).toMatchObject([
      { before: { openJobs: 5 }, after: { openJobs: null } },
      { before: { openJobs: null }, after: { openJobs: 5 } },
    ])
  })

  it('of several commands at once is the last one, and each is recorded', async () => {
    await Promise.all([1, 2, 3].map(limit))
    const { entries } = await readAudit(table, { limit: 10, targets: [tenant.tenantId] })
    const changes = entries.filter(({ action }) => action === 'tenant set')
    expect(changes.map(({ after }) => after?.openJobs).toSorted()).toEqual([1, 2, 3])
    expect((await getTenant(table, tenant.tenantId)).openJobs.max).not.toBeNull()
  })

  it('needs its tenant', async () => {
    await expect(
      changeTenant(table, { tenantId: 'nobody', settings: { openJobsMax: 1 }, actor: TESTER }),
    ).rejects.toMatchObject({
      code: 'not_found',
    })
    await expect(
      changeTenant(table, { tenantId: 'nobody', settings: { openJobsMax: null }, actor: TESTER }),
    ).rejects.toMatchObject({
      code: 'not_found',
    })
    const { Item } = await table.client.send(
      new GetCommand({ TableName: table.name, Key: tableKeys.balance('nobody') }),
    )
    expect(Item).toBeUndefined()
  })
})
