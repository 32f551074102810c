import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { IdempotencyKeyTakenError, reserveQuota } from '#adapters/store/money/reserve-quota.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { InsufficientQuotaError, InvalidApiKeyError } from '#core/errors.ts'
import { formatCredits } from '#core/money.ts'
import { auditTenant, readPartition } from '../../../engines/audit.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { TESTER } from '../../../engines/tester.ts'
import {
  credits,
  ESTIMATE,
  newJob,
  openTenant,
  requireReservation,
  reserveJob,
  type TestTenant,
} from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeEach(() => {
  table = engine.table
})

async function balanceOf({ tenantId }: TestTenant) {
  const { available, held, spent, granted } = (await getTenant(table, tenantId)).balance
  return [available, held, spent, granted].map(formatCredits)
}

/** What lies in the table of a tenant besides its balance and grant. */
async function writesOf({ tenantId }: TestTenant): Promise<number> {
  return (await readPartition(table, `T#${tenantId}`)).length + (await readPartition(table, `L#${tenantId}`)).length - 1
}

async function expireKey({ keyDigest }: TestTenant, expiresAt: number): Promise<void> {
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: tableKeys.apiKey(keyDigest),
      UpdateExpression: 'SET expiresAt = :at',
      ExpressionAttributeValues: { ':at': expiresAt },
    }),
  )
}

describe('reserveQuota', () => {
  it('locks exactly the estimate and writes job, reservation and ledger row', async () => {
    const tenant = await openTenant(table, '1')
    const job = await reserveJob(table, tenant, { callbackUrl: 'https://hooks.example.com/x' })
    expect(await balanceOf(tenant)).toEqual(['0.3', '0.7', '0', '1'])
    expect(await requireReservation(table, job)).toMatchObject({
      amount: ESTIMATE,
      state: 'held',
      request: job.request,
      restarts: 0,
    })
    expect(await getVideoJob(table, job.tenantId, job.jobId)).toMatchObject({
      status: 'queued',
      isDeleted: false,
      estimate: ESTIMATE,
      callbackUrl: job.callbackUrl,
    })
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('passes with exactly the funds of the estimate and refuses one millionth less', async () => {
    const enough = await openTenant(table, '0.7')
    await reserveJob(table, enough)
    expect(await balanceOf(enough)).toEqual(['0', '0.7', '0', '0.7'])
    const short = await openTenant(table, '0.699999')
    await expect(reserveJob(table, short)).rejects.toBeInstanceOf(InsufficientQuotaError)
    expect(await balanceOf(short)).toEqual(['0.699999', '0', '0', '0.699999'])
    expect(await writesOf(short)).toBe(0)
  })

  it('keeps an estimate beyond the exact range of a double whole', async () => {
    const tenant = await openTenant(table, '9999999.999999')
    const estimate = credits('9999999.999998')
    const job = await reserveJob(table, tenant, { estimate })
    expect((await requireReservation(table, job)).amount).toBe(estimate)
    expect(await balanceOf(tenant)).toEqual(['0.000001', '9999999.999998', '0', '9999999.999999'])
  })

  it('refuses a revoked key before funds are judged', async () => {
    const tenant = await openTenant(table, '0')
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await writesOf(tenant)).toBe(0)
  })

  it('refuses a key from the second of its end on, before funds are judged', async () => {
    const tenant = await openTenant(table, '0')
    const now = Math.trunc(Date.now() / 1000)
    await expireKey(tenant, now)
    await expect(reserveJob(table, tenant, { createdAt: now })).rejects.toBeInstanceOf(InvalidApiKeyError)
    await expect(reserveJob(table, tenant, { createdAt: now - 1 })).rejects.toBeInstanceOf(InsufficientQuotaError)
  })

  it('refuses a key that nobody has', async () => {
    const tenant = await openTenant(table)
    await expect(reserveJob(table, { ...tenant, keyDigest: 'f'.repeat(64) })).rejects.toBeInstanceOf(InvalidApiKeyError)
  })

  it('refuses a tenant that is being suspended like a revoked key, whatever its balance', async () => {
    const tenant = await openTenant(table)
    // The first step of a suspension: no key is marked yet.
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.balance(tenant.tenantId),
        UpdateExpression: 'SET #state = :suspended',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: { ':suspended': 'suspended' },
      }),
    )
    await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
    expect(await writesOf(tenant)).toBe(0)
  })

  it('refuses a key that a suspension has marked, before funds are judged', async () => {
    const tenant = await openTenant(table, '0')
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: tableKeys.apiKey(tenant.keyDigest),
        UpdateExpression: 'SET suspended = :true',
        ExpressionAttributeValues: { ':true': true },
      }),
    )
    await expect(reserveJob(table, tenant)).rejects.toBeInstanceOf(InvalidApiKeyError)
  })

  it('lets exactly ten of fifty concurrent creates pass on funds for ten', async () => {
    const tenant = await openTenant(table, '7')
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => reserveJob(table, tenant)))
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []))
    expect(outcomes.length - refusals.length).toBe(10)
    expect(refusals.every((error) => error instanceof InsufficientQuotaError)).toBe(true)
    expect(await balanceOf(tenant)).toEqual(['0', '7', '0', '7'])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('makes one job and one lock when the reply of the table is lost', async () => {
    const tenant = await openTenant(table)
    const job = newJob(tenant)
    breakConnection(table, job.jobId)
    await reserveQuota(table, job)
    expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })
})

describe('an idempotency key', () => {
  const now = Math.trunc(Date.now() / 1000)
  const idempotency = (expiresAt = now + 86_400) => ({ digest: 'd1', bodyHash: 'b1', expiresAt })

  it('stands for one job: the second reservation under it writes nothing', async () => {
    const tenant = await openTenant(table)
    await reserveJob(table, tenant, { idempotency: idempotency() })
    await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(
      IdempotencyKeyTakenError,
    )
    expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
  })

  it('is found taken before funds are judged, and after the key', async () => {
    const tenant = await openTenant(table, '0.7')
    await reserveJob(table, tenant, { idempotency: idempotency() })
    await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(
      IdempotencyKeyTakenError,
    )
    await revokeApiKey(table, tenant.keyDigest.slice(0, 8), TESTER)
    await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(InvalidApiKeyError)
  })

  it('is not kept when funds do not suffice', async () => {
    const tenant = await openTenant(table, '0')
    await expect(reserveJob(table, tenant, { idempotency: idempotency() })).rejects.toBeInstanceOf(
      InsufficientQuotaError,
    )
    expect(await readPartition(table, `I#${tenant.tenantId}#d1`)).toEqual([])
  })

  it('is free again from the second of its end on, collected or not', async () => {
    const tenant = await openTenant(table)
    await reserveJob(table, tenant, { createdAt: now, idempotency: idempotency(now + 10) })
    const again = (createdAt: number) =>
      reserveJob(table, tenant, { createdAt, idempotency: idempotency(createdAt + 10) })
    await expect(again(now + 9)).rejects.toBeInstanceOf(IdempotencyKeyTakenError)
    await again(now + 10)
  })

  it('belongs to its tenant', async () => {
    const [one, other] = [await openTenant(table), await openTenant(table)]
    await reserveJob(table, one, { idempotency: idempotency() })
    await reserveJob(table, other, { idempotency: idempotency() })
  })

  it('lets one of ten concurrent creates under it pass', async () => {
    const tenant = await openTenant(table)
    const creates = Array.from({ length: 10 }, () => reserveJob(table, tenant, { idempotency: idempotency() }))
    const outcomes = await Promise.allSettled(creates)
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
  })
})

describe('reserveQuota for a job id that exists', () => {
  it('writes nothing and moves no money', async () => {
    const tenant = await openTenant(table)
    const job = await reserveJob(table, tenant)
    await expect(reserveQuota(table, job)).rejects.toMatchObject({ name: 'ConditionsNotMetError' })
    expect(await balanceOf(tenant)).toEqual(['99.3', '0.7', '0', '100'])
  })
})
