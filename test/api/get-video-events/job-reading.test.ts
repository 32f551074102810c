import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { readFollowedJob } from '#lambdas/api/get-video-events/job-reading.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { useTestTable } from '../../engines/test-table.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()
let tenant: TestTenant
let job: VideoJob
beforeEach(async () => {
  tenant = await openTenant(engine.table)
  const { tenantId, jobId } = await reserveJob(engine.table, tenant)
  const found = await getVideoJob(engine.table, tenantId, jobId)
  if (found === undefined) {
    throw new Error('no job')
  }
  job = found
})

const now = () => Date.now() / 1000
const read = () => readFollowedJob(engine.table, job, now())

describe('reading a followed job', () => {
  it('makes one eventually consistent read of one item each time', async () => {
    const reads = vi.spyOn(engine.table, 'readItem')
    await read()
    expect(reads.mock.calls.map(([, options]) => options)).toEqual([{ mayLag: true }])
    reads.mockRestore()
  })

  it('sees what has changed, and nothing of a job that was deleted', async () => {
    expect((await read())?.status).toBe('queued')
    await markDeleted(engine.table, job, Date.now())
    expect(await read()).toBeUndefined()
  })
})
