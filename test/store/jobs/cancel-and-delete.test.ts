import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { pendingCleanUps } from '#store/due-index.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { markCancelled, markDeleted, recordCleanedUp } from '#store/jobs/cancel-and-delete.ts'
import { claimSubmit } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { breakConnection, startTestTable, type TableWithClient, type TestTable } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob } from '../../engines/video-jobs.ts'

describe('markCancelled: the mark of a cancelled job', () => {
  const NOW = Date.now()
  const SECONDS = Math.trunc(NOW / 1000)

  const { table } = useTestTable()
  let job: NewVideoJob
  beforeEach(async () => {
    job = await reserveJob(table, await openTenant(table))
  })

  async function read() {
    const record = await getVideoJob(table, job.tenantId, job.jobId)
    if (record === undefined) {
      throw new Error('no job')
    }
    return record
  }

  async function isPending(): Promise<boolean> {
    for await (const { jobId } of pendingCleanUps(table, NOW)) {
      if (jobId === job.jobId) {
        return true
      }
    }
    return false
  }

  const channel = { id: 'main', max_open_jobs: 9, provider: 'p2' } as const

  it('keeps its first time and request, and leads to a clean-up', async () => {
    const first = { cancelledAt: SECONDS, cancellation: 'first' }
    expect(await markCancelled(table, job, NOW, 'first')).toMatchObject({ status: 'queued', ...first })
    expect(await markCancelled(table, job, NOW + 5_000, 'second')).toMatchObject(first)
    expect(await isPending()).toBe(true)
  })

  it('whose reply was lost is found', async () => {
    breakConnection(table, 'cancelledAt')
    expect(await markCancelled(table, job, NOW, 'mine')).toMatchObject({ cancelledAt: SECONDS, cancellation: 'mine' })
  })

  it('keeps every submit away', async () => {
    await markCancelled(table, job, NOW)
    expect(await claimSubmit(table, { job, channel, nowSeconds: SECONDS })).toBe('job_moved')
  })

  it('is not set on a job that has ended', async () => {
    const ended = { job: await read(), reservation: await requireReservation(table, job), resolution: RELEASE }
    await resolveReservation(table, { ...ended, nowMilliseconds: NOW })
    expect(await markCancelled(table, job, NOW)).not.toHaveProperty('cancelledAt')
    expect(await isPending()).toBe(false)
  })

  it('finds no job that is deleted, unknown or too old', async () => {
    const old = await reserveJob(table, await openTenant(table), { createdAt: SECONDS - JOB_RECORD_SECONDS })
    await markDeleted(table, job, NOW)
    const found = [job, { tenantId: job.tenantId, jobId: 'unknown' }, old].map((each) =>
      markCancelled(table, each, NOW),
    )
    expect(await Promise.all(found)).toEqual([undefined, undefined, undefined])
  })

  it('leaves the clean-up of a job that was deleted since to the deletion', async () => {
    const cancelled = await markCancelled(table, job, NOW)
    await markDeleted(table, job, NOW)
    await recordCleanedUp(table, { ...job, isDeleted: cancelled?.isDeleted ?? true })
    expect(await isPending()).toBe(true)
    await recordCleanedUp(table, { ...job, isDeleted: true })
    expect(await isPending()).toBe(false)
  })
})

describe('markDeleted', () => {
  let engine: TestTable
  let table: TableWithClient
  let job: NewVideoJob

  beforeAll(async () => {
    engine = await startTestTable()
    table = engine.table
  })
  beforeEach(async () => {
    job = await reserveJob(table, await openTenant(table))
  })
  afterAll(() => engine.close())

  it('works once', async () => {
    expect(await markDeleted(table, job, Date.now())).toMatchObject({ jobId: job.jobId, isDeleted: true })
    expect(await markDeleted(table, job, Date.now())).toBeUndefined()
  })

  it('is done when only its reply was lost: the repeat meets its own mark', async () => {
    breakConnection(table, 'deletionMark')
    expect(await markDeleted(table, job, Date.now())).toMatchObject({ isDeleted: true })
  })

  it('is won by one of many at the same time', async () => {
    const marked = await Promise.all(Array.from({ length: 10 }, () => markDeleted(table, job, Date.now())))
    expect(marked.filter((each) => each !== undefined)).toHaveLength(1)
  })

  it('finds nothing of an unknown job, and nothing past the time that records are shown', async () => {
    expect(await markDeleted(table, { ...job, jobId: 'other' }, Date.now())).toBeUndefined()
    const tooLate = (job.createdAt + JOB_RECORD_SECONDS) * 1000
    expect(await markDeleted(table, job, tooLate)).toBeUndefined()
    expect(await markDeleted(table, job, tooLate - 1)).toMatchObject({ isDeleted: true })
  })
})
