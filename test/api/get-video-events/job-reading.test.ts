import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { revokeApiKey } from '#adapters/store/accounts/key-admin.ts'
import { markDeleted } from '#adapters/store/jobs/job-deletion.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { JobReader } from '#lambdas/api/get-video-events/job-reading.ts'
import { startTestTable, type TestTable } from '../../engines/start-test-table.ts'
import { TESTER } from '../../engines/tester.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

let engine: TestTable
let tenant: TestTenant
let job: VideoJob
beforeAll(async () => {
  engine = await startTestTable()
})
beforeEach(async () => {
  tenant = await openTenant(engine.table)
  const { tenantId, jobId } = await reserveJob(engine.table, tenant)
  const found = await getVideoJob(engine.table, tenantId, jobId)
  if (found === undefined) {
    throw new Error('no job')
  }
  job = found
})
afterAll(() => engine.close())

const now = () => Date.now() / 1000
const open = () => new JobReader(engine.table, { job, keyDigest: tenant.keyDigest })

describe('a reader of a followed job', () => {
  it('makes one eventually consistent read of one item each time', async () => {
    const reads = vi.spyOn(engine.table, 'readItem')
    await open().read(now())
    expect(reads.mock.calls.map(([, options]) => options)).toEqual([{ mayLag: true }])
    reads.mockRestore()
  })

  it('sees what has changed, and nothing of a job that was deleted', async () => {
    const reader = open()
    expect((await reader.read(now()))?.status).toBe('queued')
    await markDeleted(engine.table, job, Date.now())
    expect(await reader.read(now())).toBeUndefined()
  })

  it('looks at the key in place of the job once a minute, and stops for one that was revoked', async () => {
    const [first, second] = [open(), open()]
    const readings = async (reader: JobReader, count: number) => {
      const found: (VideoJob | undefined)[] = []
      for (let index = 0; index < count; index += 1) {
        found.push(await reader.read(now()))
      }
      return found
    }
    expect((await readings(first, 61)).every((found) => found?.jobId === job.jobId)).toBe(true)
    await revokeApiKey(engine.table, tenant.keyDigest.slice(0, 8), TESTER)
    const found = await readings(second, 60)
    expect(found.indexOf(undefined)).toBe(59)
  })
})
