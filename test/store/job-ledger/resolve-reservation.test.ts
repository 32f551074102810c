import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from '@jest/globals'
import { v7 as uuidv7 } from 'uuid'
import { JOB_RECORD_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { formatCredits, ZERO } from '#core/money.ts'
import { dueReservations } from '#store/due-index.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { type Resolution, resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { readChannelCount } from '#store/jobs/channels.ts'
import { claimSubmit, recordAccepted, releaseSubmitClaim } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { type TableKey, tableKeys } from '#store/table/table-keys.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { streamUsageCounters } from '#store/usage.ts'
import { auditTenant, readPartition } from '../../engines/audit.ts'
import {
  clearTenantBudget,
  keyBudgetOf,
  storeKeyBudget,
  storeTenantBudget,
  tenantBudgetOf,
} from '../../engines/budgets.ts'
import { breakConnection } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import {
  openTenant,
  RELEASE,
  requireReservation,
  reserveJob,
  settle,
  type TestTenant,
} from '../../engines/video-jobs.ts'

describe('resolveReservation:', () => {
  const { table } = useTestTable()

  /** A job on a channel of its own, accepted by the upstream. */
  async function processingJob(credits = '100'): Promise<NewVideoJob & { channelId: string }> {
    const job = await reserveJob(table, await openTenant(table, credits))
    const channelId = `ch-${job.jobId}`
    await claimSubmit(table, {
      job,
      channel: { id: channelId, max_open_jobs: 1, provider: 'p2' },
      nowSeconds: job.createdAt,
    })
    await recordAccepted(table, job, {
      taskId: 'task',
      submitText: { inline: '{}' },
      acceptedAt: Math.trunc(Date.now() / 1000),
    })
    return { ...job, channelId }
  }

  async function recordOf({ tenantId, jobId }: NewVideoJob): Promise<VideoJob> {
    const record = await getVideoJob(table, tenantId, jobId)
    if (record === undefined) {
      throw new Error('no job')
    }
    return record
  }

  async function resolve(job: NewVideoJob, resolution: Resolution, seen?: VideoJob) {
    return await resolveReservation(table, {
      job: seen ?? (await recordOf(job)),
      reservation: await requireReservation(table, job),
      resolution,
      nowMilliseconds: job.createdAt * 1000 + 60_000,
    })
  }

  async function balanceOf({ tenantId }: { tenantId: string }) {
    const { available, held, spent } = (await getTenant(table, tenantId)).balance
    return [available, held, spent].map(formatCredits)
  }

  async function setAttribute(key: TableKey, name: string, value: unknown): Promise<void> {
    await table.client.send(
      new UpdateCommand({
        TableName: table.name,
        Key: key,
        UpdateExpression: 'SET #name = :value',
        ExpressionAttributeNames: { '#name': name },
        ExpressionAttributeValues: { ':value': value },
      }),
    )
  }

  describe('a settlement', () => {
    it('bills the actual cost, gives the rest back, ends the job and frees its channel slot', async () => {
      const job = await processingJob()
      expect(await resolve(job, settle('0.5'))).toBe('resolved')
      expect(await balanceOf(job)).toEqual(['99.5', '0', '0.5'])
      expect(await recordOf(job)).toMatchObject({ status: 'succeeded', durationSeconds: '5' })
      expect(await readChannelCount(table, job.channelId)).toMatchObject({ open: 0 })
      expect(await auditTenant(table, job.tenantId)).toEqual([])
    })

    it('above the estimate takes the available balance below zero by the difference', async () => {
      const job = await processingJob('0.7')
      await resolve(job, settle('0.95'))
      expect(await balanceOf(job)).toEqual(['-0.25', '0', '0.95'])
      expect(await auditTenant(table, job.tenantId)).toEqual([])
    })

    it('of a job that was never accepted is refused', async () => {
      const job = await reserveJob(table, await openTenant(table))
      await expect(resolve(job, settle('0.5'))).rejects.toMatchObject({ code: 'changed_meanwhile' })
      expect(await balanceOf(job)).toEqual(['99.3', '0.7', '0'])
    })
  })

  describe('a release', () => {
    it('gives the whole estimate back and ends the job with its error', async () => {
      const job = await processingJob()
      expect(await resolve(job, RELEASE)).toBe('resolved')
      expect(await balanceOf(job)).toEqual(['100', '0', '0'])
      expect(await recordOf(job)).toMatchObject({ status: 'failed', error: 'upstream said no' })
      expect(await readChannelCount(table, job.channelId)).toMatchObject({ open: 0 })
      expect(await auditTenant(table, job.tenantId)).toEqual([])
    })

    it('of a queued job without a channel touches no channel', async () => {
      const job = await reserveJob(table, await openTenant(table))
      expect(await resolve(job, RELEASE)).toBe('resolved')
      expect(await balanceOf(job)).toEqual(['100', '0', '0'])
    })
  })

  describe('a resolution', () => {
    it('settling and releasing at the same time is exactly one of them', async () => {
      const job = await processingJob()
      const seen = await recordOf(job)
      const outcomes = await Promise.all([resolve(job, settle('0.5'), seen), resolve(job, RELEASE, seen)])
      expect(outcomes.toSorted()).toEqual(['conflict', 'resolved'])
      const status = (await recordOf(job)).status
      expect(await balanceOf(job)).toEqual(status === 'succeeded' ? ['99.5', '0', '0.5'] : ['100', '0', '0'])
      expect(await readChannelCount(table, job.channelId)).toMatchObject({ open: 0 })
      expect(await auditTenant(table, job.tenantId)).toEqual([])
    })

    it('ten times at once is one', async () => {
      const job = await processingJob()
      const seen = await recordOf(job)
      const outcomes = await Promise.all(Array.from({ length: 10 }, () => resolve(job, settle('0.5'), seen)))
      expect(outcomes.filter((outcome) => outcome === 'resolved')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === 'already_resolved')).toHaveLength(9)
      expect(await balanceOf(job)).toEqual(['99.5', '0', '0.5'])
    })

    it.each([
      ['a settlement with the same cost', settle('0.5'), settle('0.5'), 'already_resolved'],
      ['a release', RELEASE, { ...RELEASE, error: 'other words' }, 'already_resolved'],
      ['a settlement with another cost', settle('0.5'), settle('0.4'), 'conflict'],
      ['a release after a settlement', settle('0.5'), RELEASE, 'conflict'],
      ['a settlement after a release', RELEASE, settle('0.5'), 'conflict'],
      ['a settlement of nothing after a release', RELEASE, settle('0'), 'conflict'],
    ] as const)('that repeats as %s keeps the first one', async (_, first, second, outcome) => {
      const job = await processingJob()
      const seen = await recordOf(job)
      await resolve(job, first, seen)
      const after = await balanceOf(job)
      expect(await resolve(job, second, seen)).toBe(outcome)
      expect(await balanceOf(job)).toEqual(after)
      expect(await auditTenant(table, job.tenantId)).toEqual([])
    })

    it('whose reply was lost is one', async () => {
      const job = await processingJob()
      const { left } = breakConnection(table, `${job.jobId}#2`)
      expect(await resolve(job, settle('0.5'))).toBe('resolved')
      expect(left()).toBe(0)
      expect(await balanceOf(job)).toEqual(['99.5', '0', '0.5'])
    })

    it('is refused when the job has moved to another channel since it was read', async () => {
      const job = await processingJob()
      await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'channelId', 'elsewhere')
      const seen: VideoJob = { ...(await recordOf(job)), channelId: job.channelId }
      await expect(resolve(job, RELEASE, seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
      expect(await balanceOf(job)).toEqual(['99.3', '0.7', '0'])
    })

    it('is refused when the job was claimed since it was read', async () => {
      const job = await reserveJob(table, await openTenant(table))
      const seen = await recordOf(job)
      await claimSubmit(table, { job, channel: { id: 'ch-late', max_open_jobs: 1, provider: 'p2' }, nowSeconds: 1 })
      await expect(resolve(job, RELEASE, seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
      await releaseSubmitClaim(table, job, 'ch-late')
    })

    it('takes the reservation out of the due index', async () => {
      const job = await processingJob()
      await resolve(job, RELEASE)
      const due: unknown[] = []
      for await (const reservation of dueReservations(table, 999_999_999_999_999)) {
        due.push(reservation)
      }
      expect(due).not.toContainEqual(expect.objectContaining({ jobId: job.jobId }))
    })

    it('lets the records be collected a day after their last visible moment, and only a resolution does', async () => {
      const job = await processingJob()
      const ttls = async () => (await readPartition(table, `T#${job.tenantId}`)).map(({ ttl }) => ttl)
      expect(await ttls()).toEqual([undefined, undefined])
      await resolve(job, settle('0.5'))
      const end = job.createdAt + JOB_RECORD_SECONDS + 86_400
      expect(await ttls()).toEqual([end, end])
    })
  })

  describe('each guard alone', () => {
    it('of the job status keeps an ended job from a second resolution', async () => {
      const job = await processingJob()
      await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'status', 'failed')
      const seen: VideoJob = { ...(await recordOf(job)), status: 'processing' }
      await expect(resolve(job, settle('0.5'), seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
      expect(await balanceOf(job)).toEqual(['99.3', '0.7', '0'])
    })

    it('of the one ledger key keeps a resolved job from a second resolution', async () => {
      const job = await processingJob()
      const seen = await recordOf(job)
      await resolve(job, RELEASE)
      await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'status', 'processing')
      await setAttribute(tableKeys.reservation(job.tenantId, job.jobId), 'state', 'held')
      await setAttribute(tableKeys.balance(job.tenantId), 'held', 700_000)
      await expect(resolve(job, settle('0.5'), seen)).rejects.toMatchObject({ code: 'changed_meanwhile' })
      expect((await balanceOf(job))[2]).toBe('0')
    })

    it('of the reservation keeps a resolved job from a second resolution', async () => {
      const job = await processingJob()
      const seen = await recordOf(job)
      await resolve(job, RELEASE)
      await setAttribute(tableKeys.job(job.tenantId, job.jobId), 'status', 'processing')
      await setAttribute(tableKeys.balance(job.tenantId), 'held', 700_000)
      await table.client.send(
        new DeleteCommand({ TableName: table.name, Key: tableKeys.ledgerResolution(job.tenantId, job.jobId) }),
      )
      expect(await resolve(job, settle('0.5'), seen)).toBe('conflict')
      expect((await balanceOf(job))[2]).toBe('0')
    })

    it('of the held sum keeps a balance from going below what was locked', async () => {
      const job = await processingJob()
      await setAttribute(tableKeys.balance(job.tenantId), 'held', 699_999)
      await expect(resolve(job, RELEASE)).rejects.toMatchObject({ code: 'changed_meanwhile' })
    })
  })
})

describe('resolveReservation with budgets:', () => {
  const { table } = useTestTable()

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
})
