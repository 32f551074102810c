import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { markDeleted } from '#adapters/store/jobs/job-deletion.ts'
import type { NewVideoJob } from '#adapters/store/money/new-video-job.ts'
import { JOB_RECORD_SECONDS } from '#core/jobs/video-job.ts'
import { breakConnection } from '../../../engines/break-connection.ts'
import { startTestTable, type TestTable } from '../../../engines/start-test-table.ts'
import type { TableWithClient } from '../../../engines/table-with-client.ts'
import { openTenant, reserveJob } from '../../../engines/video-jobs.ts'

let engine: TestTable
let table: TableWithClient
let job: NewVideoJob

describe('marking a job as deleted', () => {
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
