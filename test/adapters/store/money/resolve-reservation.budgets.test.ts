import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import { v7 as uuidv7 } from 'uuid'
import { beforeAll, describe, expect, it } from 'vitest'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { claimSubmit, recordAccepted } from '#adapters/store/jobs/submission.ts'
import type { Resolution } from '#adapters/store/money/job-resolution.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { streamUsageCounters } from '#adapters/store/money/usage-counters.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { ZERO } from '#core/money.ts'
import { auditTenant } from '../../../engines/audit.ts'
import {
  clearTenantBudget,
  keyBudgetOf,
  storeKeyBudget,
  storeTenantBudget,
  tenantBudgetOf,
} from '../../../engines/budgets.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import {
  openTenant,
  RELEASE,
  requireReservation,
  reserveJob,
  settle,
  type TestTenant,
} from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
beforeAll(async () => {
  table = engine.table
})

/** The last second of a day and of a month. */
const EVE = Date.UTC(2026, 10, 30, 23, 59, 59) / 1000
const DAY = { kind: 'day', atMilliseconds: EVE * 1000 } as const

/** Reserves 0.7 credits; the upstream has accepted the job. */
async function acceptedJob(tenant: TestTenant, changes: Partial<NewVideoJob> = {}): Promise<NewVideoJob> {
  const job = await reserveJob(table, tenant, { createdAt: EVE, ...changes })
  const channel = { id: `ch-${job.jobId}`, max_open_jobs: 1, provider: 'p2' } as const
  await claimSubmit(table, { job, channel, nowSeconds: job.createdAt })
  await recordAccepted(table, job, {
    taskId: 'task',
    submitText: { inline: '{}' },
    acceptedAt: Math.trunc(Date.now() / 1000),
  })
  return job
}

async function resolve(newJob: NewVideoJob, resolution: Resolution, atSeconds = EVE) {
  const job = await getVideoJob(table, newJob.tenantId, newJob.jobId)
  if (job === undefined) {
    throw new Error('no job')
  }
  const reservation = await requireReservation(table, newJob)
  return await resolveReservation(table, { job, reservation, resolution, nowMilliseconds: atSeconds * 1000 })
}

/** A tenant with both kinds of budget, and a job that counts in them. */
async function budgetedJob() {
  const tenant = await openTenant(table)
  const budget = await storeKeyBudget(table, uuidv7(), { credits: '2', ...DAY })
  await storeTenantBudget(table, tenant.tenantId, { credits: '2', ...DAY })
  const job = await acceptedJob(tenant, { budget })
  const budgets = async () => [await keyBudgetOf(table, budget.id), await tenantBudgetOf(table, tenant.tenantId)]
  return { tenant, budget, job, budgets }
}

describe('a settlement', () => {
  it('counts the bill as spent and gives the rest back to both budgets', async () => {
    const { tenant, job, budgets } = await budgetedJob()
    expect(await resolve(job, settle('0.5'))).toBe('resolved')
    const expected = ['2026-11-30', '0.5', '0', '1.5', '2']
    expect(await budgets()).toEqual([expected, expected])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('counts in the period in which it settles', async () => {
    const { job, budgets } = await budgetedJob()
    await resolve(job, settle('0.5'), EVE + 1)
    const expected = ['2026-12-01', '0.5', '0', '1.5', '2']
    expect(await budgets()).toEqual([expected, expected])
  })

  it('counts on the day of the period that a process with a faster clock has begun, in the ledger and in counters too', async () => {
    const { tenant, budget, job, budgets } = await budgetedJob()
    await acceptedJob(tenant, { budget, createdAt: EVE + 1 })
    await resolve(job, settle('0.5'))
    const expected = ['2026-12-01', '0.5', '0.7', '0.8', '1.3']
    expect(await budgets()).toEqual([expected, expected])
    const counted = []
    for await (const { day, cost } of streamUsageCounters(table, tenant.tenantId)) {
      counted.push([day, cost])
    }
    expect(counted).toEqual([['2026-12-01', 500_000n]])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('above the estimate takes what is left below zero, and is never refused', async () => {
    const { job, budgets } = await budgetedJob()
    await resolve(job, settle('2.5'))
    const expected = ['2026-11-30', '2.5', '0', '-0.5', '2']
    expect(await budgets()).toEqual([expected, expected])
  })

  it('of a job without an estimate counts the bill, because the reported tier may have a price', async () => {
    const tenant = await openTenant(table)
    const budget = await storeKeyBudget(table, uuidv7(), { credits: '2', ...DAY })
    const job = await acceptedJob(tenant, { budget, estimate: ZERO })
    expect(await resolve(job, settle('0.5'))).toBe('resolved')
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-11-30', '0.5', '0', '1.5', '2'])
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('ten times at once counts once', async () => {
    const { job, budgets } = await budgetedJob()
    await Promise.all(Array.from({ length: 10 }, () => resolve(job, settle('0.5'), EVE + 1)))
    const expected = ['2026-12-01', '0.5', '0', '1.5', '2']
    expect(await budgets()).toEqual([expected, expected])
  })
})

describe('a release', () => {
  it('gives everything back to both budgets', async () => {
    const { job, budgets } = await budgetedJob()
    expect(await resolve(job, RELEASE)).toBe('resolved')
    const expected = ['2026-11-30', '0', '0', '2', '2']
    expect(await budgets()).toEqual([expected, expected])
  })
})

describe('a resolution', () => {
  it('counts in a tenant budget that was set while the job ran', async () => {
    const tenant = await openTenant(table)
    const job = await acceptedJob(tenant)
    await storeTenantBudget(table, tenant.tenantId, { credits: '2', ...DAY })
    await resolve(job, settle('0.5'))
    // The budget of this test was stored without the hold, so that what is left and what is free show the move alone.
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-11-30', '0.5', '0', '2.2', '2.7'])
  })

  it('leaves a tenant budget alone that was cleared while the job ran', async () => {
    const { tenant, job } = await budgetedJob()
    await clearTenantBudget(table, tenant.tenantId)
    expect(await resolve(job, settle('0.5'))).toBe('resolved')
    expect(await tenantBudgetOf(table, tenant.tenantId)).toBeUndefined()
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('follows another kind of period', async () => {
    const { tenant, job } = await budgetedJob()
    await storeTenantBudget(table, tenant.tenantId, { credits: '2', kind: 'month', atMilliseconds: EVE * 1000 })
    await resolve(job, settle('0.5'), EVE + 1)
    expect(await tenantBudgetOf(table, tenant.tenantId)).toEqual(['2026-12', '0.5', '0', '2.2', '2.7'])
  })

  it('does without the budget of a key that is missing from the table', async () => {
    const { tenant, job, budget } = await budgetedJob()
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: tableKeys.keyBudget(budget.id) }))
    expect(await resolve(job, settle('0.5'))).toBe('resolved')
    expect(await keyBudgetOf(table, budget.id)).toBeUndefined()
    expect(await auditTenant(table, tenant.tenantId)).toEqual([])
  })

  it('touches no budget of a key that got one while the job ran', async () => {
    const tenant = await openTenant(table)
    const job = await acceptedJob(tenant)
    const budget = await storeKeyBudget(table, tenant.keyDigest.slice(0, 8), { credits: '2', ...DAY })
    await resolve(job, settle('0.5'))
    expect(await keyBudgetOf(table, budget.id)).toEqual(['2026-11-30', '0', '0', '2', '2'])
  })
})
