import { describe, expect, it } from '@jest/globals'
import { verifyLedger } from '#lambdas/admin/verify-ledger.ts'
import { requireVideoJob } from '#lambdas/pipeline/step-context.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted } from '#store/jobs/job-progress.ts'
import type { TableWithClient } from '../engines/test-table.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob, settle } from '../engines/video-jobs.ts'
import { changedKeys, putBack, remove, subsets, type TableImage, takeImage } from './faulty-table.ts'

const engine = useTestTable()

/** The table right before and right after one transaction. */
type Transaction = { readonly table: TableWithClient; readonly before: TableImage; readonly after: TableImage }

async function around(table: TableWithClient, transaction: () => Promise<unknown>): Promise<Transaction> {
  const before = await takeImage(table)
  await transaction()
  return { table, before, after: await takeImage(table) }
}

async function reserve(): Promise<Transaction> {
  const table = await engine.fresh()
  const tenant = await openTenant(table)
  await reserveJob(table, tenant)
  const idempotency = { digest: sha256Hex('key'), bodyHash: sha256Hex('body'), expiresAt: 9_999_999_999 }
  return await around(table, () => reserveJob(table, tenant, { idempotency }))
}

/** Of a job that an upstream works on, beside one that stays open. */
async function resolve(resolution: Resolution): Promise<Transaction> {
  const table = await engine.fresh()
  const tenant = await openTenant(table)
  await reserveJob(table, tenant)
  const job = await reserveJob(table, tenant)
  await claimSubmit(table, {
    job,
    channel: { id: 'main', max_open_jobs: 9, provider: 'p2' },
    nowSeconds: job.createdAt,
  })
  await recordAccepted(table, job, {
    taskId: 'task',
    submitText: { inline: '{}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
  return await around(table, () => resolveReservation(table, { ...record, resolution, nowMilliseconds: Date.now() }))
}

/** An idempotency key and a channel's count are no money: the one ends by itself, the other is recounted by Reconcile. */
const isMoney = (key: string) => !/^(I|CH)#/.test(key)

const findings = async (table: TableWithClient) => (await verifyLedger(table)).map(({ message }) => message)

describe('a table restored to the middle of', () => {
  it.each([
    ['a reservation', 4, reserve],
    ['a settlement', 5, () => resolve(settle('0.42'))],
    ['a release', 4, () => resolve(RELEASE)],
  ])('%s breaks invariants that the audit reports, whichever items are missing', async (_, count, transaction) => {
    const { table, before, after } = await transaction()
    const written = changedKeys(before, after)
    expect(written.filter(isMoney)).toHaveLength(count)
    for (const missing of subsets(written)) {
      await putBack(table, before, missing)
      const found = await findings(table)
      const isPart = missing.some(isMoney) && !written.filter(isMoney).every((key) => missing.includes(key))
      expect({ missing, isReported: found.length > 0 }).toEqual({ missing, isReported: isPart })
      await putBack(table, after, missing)
    }
    expect(await findings(table)).toEqual([])
  })
})

describe('a table that lost', () => {
  it('items of a billed job or of its tenant is reported, and every tenant is still checked', async () => {
    const { table, after } = await resolve(settle('0.42'))
    const other = await openTenant(table)
    const { jobId } = await reserveJob(table, other)
    await remove(table, `L#${other.tenantId} ${jobId}#1`)
    const isOfTheJob = (key: string) => /^(L#.*#[12]$|BAL#|T#)/.test(key)
    const resolved = [...after.keys()].find((key) => key.endsWith('#2'))?.slice(-38, -2) ?? ''
    const own = [...after.keys()].filter((key) => isOfTheJob(key) && (key.includes(resolved) || key.startsWith('BAL#')))
    expect(own).toHaveLength(5)
    const tenants = [...after.keys()].filter((key) => key.startsWith('TENANTS') || key.includes('grant#'))
    expect(tenants).toHaveLength(2)
    for (const lost of [...subsets(own).slice(1), ...tenants.map((key) => [key])]) {
      for (const key of lost) {
        await remove(table, key)
      }
      const broken = await verifyLedger(table)
      expect({ lost, tenants: new Set(broken.map(({ tenant }) => tenant)).size }).toEqual({ lost, tenants: 2 })
      expect(broken).toContainEqual({
        tenant: other.tenantId,
        message: `job ${jobId} has no reserve row in the ledger`,
      })
      await putBack(table, after, lost)
    }
  })

  it.each([
    ['the balance', /^BAL#/, ['its record or its balance is missing']],
    ['the tenant', /^TENANTS /, ['its record or its balance is missing']],
    [
      'the reservation',
      / RESERVATION#/,
      [
        'held is 0.7 and the sum of open reservations is 0',
        'it counts 1 open jobs and has 0',
        'job ID has no reservation',
      ],
    ],
    [
      'the job',
      / JOB#/,
      [
        'reservation ID has no job',
        'job ID has rows in the ledger and no record',
        'job ID has a reserve row in the ledger, no resolution row and no record',
      ],
    ],
    ['the ledger row', /#1$/, ['job ID has no reserve row in the ledger']],
  ])('%s of an open job is reported in words', async (_, lost, messages) => {
    const table = await engine.fresh()
    const { jobId } = await reserveJob(table, await openTenant(table))
    const key = [...(await takeImage(table)).keys()].find((each) => lost.test(each)) ?? ''
    await remove(table, key)
    expect(await findings(table)).toEqual(messages.map((message) => message.replace('ID', jobId)))
  })
})

describe('the audit', () => {
  it('accepts ledger rows of old jobs whose records have expired', async () => {
    const table = await engine.fresh()
    const tenant = await openTenant(table)
    const job = await reserveJob(table, tenant, { createdAt: Math.trunc(Date.now() / 1000) - 32 * 86_400 })
    const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
    await resolveReservation(table, { ...record, resolution: RELEASE, nowMilliseconds: Date.now() })
    await remove(table, `T#${job.tenantId} JOB#${job.jobId}`)
    await remove(table, `T#${job.tenantId} RESERVATION#${job.jobId}`)
    expect(await findings(table)).toEqual([])
  })
})
