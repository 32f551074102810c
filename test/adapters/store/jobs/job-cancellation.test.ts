import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { markCancelled } from '#adapters/store/jobs/job-cancellation.ts'
import { markDeleted, recordCleanedUp } from '#adapters/store/jobs/job-deletion.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { claimSubmit } from '#adapters/store/jobs/submission.ts'
import { pendingCleanUps } from '#adapters/store/money/due-index.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant, RELEASE, requireReservation, reserveJob } from '../../../engines/video-jobs.ts'

const NOW = Date.now()
const SECONDS = Math.trunc(NOW / 1000)

const engine = useTestTable()
let table: TableWithClient
let job: NewVideoJob
beforeAll(async () => {
  table = engine.table
})
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

describe('the mark of a cancelled job', () => {
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
