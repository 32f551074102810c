import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { markDeleted } from '#adapters/store/jobs/job-deletion.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { recordCheckAsked, recordReferenceRefused } from '#adapters/store/jobs/reference-check.ts'
import { claimSubmit } from '#adapters/store/jobs/submission.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { resolveReservation } from '#adapters/store/money/resolve-reservation.ts'
import { requireVideoJob } from '#lambdas/pipeline/job-record.ts'
import { useTestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant, RELEASE, requireReservation, reserveJob } from '../../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
let job: NewVideoJob
beforeAll(async () => {
  table = engine.table
})
beforeEach(async () => {
  job = await reserveJob(table, await openTenant(table))
})

const claim = () =>
  claimSubmit(table, { job, channel: { id: 'main', max_open_jobs: 99, provider: 'p2' }, nowSeconds: 1 })

async function end(): Promise<void> {
  const record = { job: await requireVideoJob(table, job), reservation: await requireReservation(table, job) }
  await resolveReservation(table, { ...record, resolution: RELEASE, nowMilliseconds: Date.now() })
}

describe('reference-check', () => {
  it('a check is asked for once, by one of many at the same time', async () => {
    const asked = await Promise.all(Array.from({ length: 5 }, () => recordCheckAsked(table, job)))
    expect(asked.filter(Boolean)).toHaveLength(1)
    expect(await recordCheckAsked(table, job)).toBe(false)
  })

  it('a job whose check was asked for can be submitted before the check ends', async () => {
    await recordCheckAsked(table, job)
    expect(await claim()).toBe('claimed')
  })

  it('a job with a refused reference is not submitted, and keeps the reason of its failure', async () => {
    await recordCheckAsked(table, job)
    expect(await recordReferenceRefused(table, job, 'not an image')).toBe(true)
    expect(await claim()).toBe('job_moved')
    expect(await getVideoJob(table, job.tenantId, job.jobId)).toMatchObject({
      status: 'queued',
      referenceCheck: 'refused',
      failure: 'not an image',
    })
  })

  it('a refusal can be recorded again', async () => {
    await recordReferenceRefused(table, job, 'not an image')
    expect(await recordReferenceRefused(table, job, 'not an image')).toBe(true)
  })

  it.each([
    ['claimed', claim],
    ['deleted', () => markDeleted(table, job, Date.now())],
    ['ended', end],
  ] as const)('a job that was %s is neither checked nor refused', async (_, move) => {
    await move()
    expect(await recordCheckAsked(table, job)).toBe(false)
    expect(await recordReferenceRefused(table, job, 'not an image')).toBe(false)
    expect((await requireVideoJob(table, job)).referenceCheck).toBeUndefined()
  })
})
