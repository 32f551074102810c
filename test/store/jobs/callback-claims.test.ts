import { beforeEach, describe, expect, it } from '@jest/globals'
import type { CallbackAttempt, VideoJob } from '#core/jobs/video-job.ts'
import { auditEntry } from '#store/audit/audit-entry.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import type { NewVideoJob } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimCallback, claimResend, recordCallbackAttempt } from '#store/jobs/callback-claims.ts'
import { markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { breakConnection } from '../../engines/test-table.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, RELEASE, requireReservation, reserveJob, TESTER } from '../../engines/video-jobs.ts'

const { table } = useTestTable()
let job: NewVideoJob
beforeEach(async () => {
  job = await reserveJob(table, await openTenant(table))
})

async function read(): Promise<VideoJob> {
  const record = await getVideoJob(table, job.tenantId, job.jobId)
  if (record === undefined) {
    throw new Error('no job')
  }
  return record
}

async function end(): Promise<void> {
  const reservation = await requireReservation(table, job)
  await resolveReservation(table, { job: await read(), reservation, resolution: RELEASE, nowMilliseconds: Date.now() })
}

describe('the claim of a callback', () => {
  it('is given once to ten who ask at once, of an ended job only', async () => {
    expect(await claimCallback(table, job)).toBe(false)
    await end()
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimCallback(table, job)))
    expect(claims.filter(Boolean)).toHaveLength(1)
    expect(await claimCallback(table, job)).toBe(false)
  })

  it('whose reply was lost counts as taken: rather no callback than two', async () => {
    await end()
    breakConnection(table, ':callbackState')
    expect(await claimCallback(table, job)).toBe(false)
    expect((await read()).callbackState).toBe('sent')
  })
})

describe('the claim of a resend', () => {
  it('gives one of ten who read the same count the next number', async () => {
    await end()
    const record = await read()
    const claims = await Promise.all(Array.from({ length: 10 }, () => claimResend(table, { job: record })))
    expect(claims.filter((attempt) => attempt !== undefined)).toEqual([2])
    expect(await claimResend(table, { job: await read() })).toBe(3)
    expect((await read()).callbackResends).toBe(2)
  })

  it('is refused for an open and for a deleted job', async () => {
    expect(await claimResend(table, { job: await read() })).toBeUndefined()
    await end()
    const record = await read()
    await markDeleted(table, job, Date.now())
    expect(await claimResend(table, { job: record })).toBeUndefined()
  })

  it('whose reply was lost has its number, and takes one only', async () => {
    await end()
    breakConnection(table, 'callbackResends')
    expect(await claimResend(table, { job: await read() })).toBe(2)
    expect((await read()).callbackResends).toBe(1)
  })

  it('writes the entry of the audit log with the claim, or neither', async () => {
    await end()
    const record = await read()
    const target = { kind: 'job', id: job.jobId, tenantId: job.tenantId } as const
    const audit = (attempt: number) =>
      auditEntry({
        actor: TESTER,
        action: 'job callback',
        target,
        before: null,
        after: { attempts: attempt },
        at: Date.now(),
      })
    expect(await claimResend(table, { job: record, audit })).toBe(2)
    expect(await claimResend(table, { job: record, audit })).toBeUndefined()
    const { entries } = await readAudit(table, { limit: 10, targets: [job.jobId] })
    expect(entries.map(({ after }) => after)).toEqual([{ attempts: 2 }])
  })
})

describe('the record of an attempt', () => {
  const attempt = (number: number, changes: Partial<CallbackAttempt> = {}): CallbackAttempt => ({
    ...{ at: 1_795_263_902, attempt: number, status: 204, milliseconds: 12, delivered: true },
    ...changes,
  })

  it('keeps every attempt, and lists them by number', async () => {
    const failed = attempt(1, { status: undefined, error: 'no connection', delivered: false })
    await recordCallbackAttempt(table, job, attempt(2))
    await recordCallbackAttempt(table, job, failed)
    expect((await read()).callbackAttempts).toEqual([failed, attempt(2)])
  })

  it('that was written twice, because a reply was lost, is listed once', async () => {
    breakConnection(table, 'callbackAttempts')
    await recordCallbackAttempt(table, job, attempt(1))
    expect((await read()).callbackAttempts).toEqual([attempt(1)])
  })

  it('makes no record of a job that is gone', async () => {
    const gone = { tenantId: job.tenantId, jobId: 'gone' }
    await recordCallbackAttempt(table, gone, attempt(1))
    expect(await getVideoJob(table, gone.tenantId, gone.jobId)).toBeUndefined()
  })

  it('is bounded', async () => {
    for (let number = 1; number <= 30; number += 1) {
      await recordCallbackAttempt(table, job, attempt(number))
    }
    expect((await read()).callbackAttempts).toHaveLength(22)
  })
})
