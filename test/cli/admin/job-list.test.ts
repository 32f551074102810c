import { beforeEach, describe, expect, it } from '@jest/globals'
import { markCancelled, markDeleted } from '#store/jobs/cancel-and-delete.ts'
import { recordWaitingForChannel } from '#store/jobs/job-progress.ts'
import type { Table } from '#store/table/table.ts'
import { jobList } from '../../../lib/cli/admin/job-list.ts'
import { useTestTable } from '../../engines/use-test-table.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { failedJob } from './failed-job.ts'
import { runCommand } from './run-command.ts'

const engine = useTestTable()
let table: Table
let tenant: TestTenant
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table)
})

describe('job list', () => {
  it('lists newest first, by status, to a limit, with a mark on deleted and cancelled jobs', async () => {
    const failed = await failedJob(table, tenant)
    const now = Math.trunc(Date.now() / 1000)
    const open = await reserveJob(table, tenant, { createdAt: now + 10 })
    const deleted = await reserveJob(table, tenant, { createdAt: now + 20 })
    await markDeleted(table, deleted, Date.now())
    const cancelled = await reserveJob(table, tenant, { createdAt: now + 30 })
    await markCancelled(table, cancelled, Date.now())
    const list = async (options: Record<string, string>) => {
      const { json } = await runCommand(jobList, { table, options: { tenant: tenant.tenantId, ...options } })
      return Object(json).jobs.map(({ id }: { id: string }) => id)
    }
    expect(await list({})).toEqual([cancelled.jobId, deleted.jobId, open.jobId, failed.jobId])
    expect(await list({ status: 'cancelled' })).toEqual([cancelled.jobId])
    expect(await list({ status: 'failed' })).toEqual([failed.jobId])
    expect(await list({ limit: '1' })).toEqual([cancelled.jobId])
    const { text } = await runCommand(jobList, { table, options: { tenant: tenant.tenantId } })
    expect(text).toContain('queued (deleted)')
    expect(text).toContain('queued (cancelled)')
    expect(text).toMatch(/ ERROR +CAUSE\n/)
    expect(text).toMatch(/ cannot read <url> of yours +HTTP 401 at <url>\n?/)
    await expect(list({ status: 'expired' })).rejects.toThrow('--status expired: use queued')
    await expect(runCommand(jobList, { table, options: {} })).rejects.toThrow(
      'or list the open jobs of all tenants with --open',
    )
    await expect(runCommand(jobList, { table, options: { tenant: 'nobody' } })).rejects.toThrow('no tenant nobody')
  })

  it('lists open jobs of all tenants, oldest first, with their age', async () => {
    const now = Math.trunc(Date.now() / 1000)
    const other = await openTenant(table)
    await failedJob(table, tenant)
    const young = await reserveJob(table, tenant, { createdAt: now - 60 })
    const old = await reserveJob(table, other, { createdAt: now - 7_200 })
    const list = async (options: Record<string, string | true>) => {
      const { json } = await runCommand(jobList, { table, options: { open: true, ...options } })
      return Object(json).jobs
    }
    expect(await list({})).toMatchObject([
      { id: old.jobId, tenant: other.tenantId, status: 'queued', channel: null },
      { id: young.jobId, tenant: tenant.tenantId },
    ])
    await recordWaitingForChannel(table, old, 'main: ECONNREFUSED; spare: HTTP 401')
    expect((await list({}))[0]).toMatchObject({ error: null, cause: 'main: ECONNREFUSED; spare: HTTP 401' })
    expect((await runCommand(jobList, { table, options: { open: true } })).text).toContain('main: ECONNREFUSED')
    expect((await list({}))[0].age_seconds).toBeGreaterThanOrEqual(7_199)
    expect(await list({ limit: '1' })).toMatchObject([{ id: old.jobId }])
    expect(await list({ tenant: tenant.tenantId })).toMatchObject([{ id: young.jobId }])
    await expect(list({ tenant: 'nobody' })).rejects.toThrow('no tenant nobody')
    await expect(list({ status: 'queued' })).rejects.toThrow('--open and --status: use one of them')
    await expect(runCommand(jobList, { table, options: {} })).rejects.toThrow('--tenant is missing')
  })
})
