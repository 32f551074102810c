import { describe, expect, it } from 'vitest'
import { deleteVideoJob } from '#lambdas/pipeline/delete-video-job.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { useTestTable } from '../engines/test-table.ts'
import { openTenant, reserveJob, TESTER } from '../engines/video-jobs.ts'

const engine = useTestTable()

describe('delete-video-job: a deletion by somebody else than the client', () => {
  it('is recorded once, in the transaction that hides the job', async () => {
    const { table } = engine
    const job = await reserveJob(table, await openTenant(table))
    const { tenantId, jobId } = job
    const target = { kind: 'job', id: jobId, tenantId } as const
    const remove = () => {
      const audit = auditEntry({
        actor: TESTER,
        action: 'job delete',
        target,
        before: null,
        after: null,
        at: Date.now(),
      })
      const openBucket = () => Promise.reject(new Error('an open job has no objects'))
      return deleteVideoJob(job, { table, openBucket, nowMilliseconds: Date.now, audit })
    }
    const outcomes = await Promise.allSettled([remove(), remove()])
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    expect((await getVideoJob(table, tenantId, jobId))?.isDeleted).toBe(true)
    await expect(remove()).rejects.toThrow('video job not found')
    expect((await readAudit(table, { limit: 9, targets: [jobId] })).entries).toMatchObject([{ action: 'job delete' }])
  })
})
