import { PutCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { tableKeys } from '#store/table/table-keys.ts'
import { findJob } from '../../../lib/cli/admin/jobs.ts'
import { UsageError } from '../../../lib/cli/terminal.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'

const engine = useTestTable()
let table: TableWithClient
let tenant: TestTenant
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table)
})

describe('find-job', () => {
  it('finds a job by its id alone, among more tenants than one request holds', async () => {
    const { jobId } = await reserveJob(table, tenant)
    // Their ids sort before that of the tenant, whose job is therefore in the second request.
    const others = Array.from({ length: 105 }, (_, index) => tableKeys.tenant(`0000-${index}`))
    await Promise.all(
      others.map((key) =>
        table.client.send(
          new PutCommand({ TableName: table.name, Item: { ...key, name: '', webhookSecret: '', createdAt: 1 } }),
        ),
      ),
    )
    expect(await findJob(table, jobId, undefined)).toMatchObject({ jobId, tenantId: tenant.tenantId })
  })

  it('finds a job of the named tenant only', async () => {
    const { jobId } = await reserveJob(table, tenant)
    const { tenantId } = await openTenant(table)
    expect(await findJob(table, jobId, tenant.tenantId)).toMatchObject({ jobId })
    await expect(findJob(table, jobId, tenantId)).rejects.toThrow(`tenant ${tenantId} has no job ${jobId}`)
  })

  it('says how many tenants it has asked, and how long records are kept', async () => {
    const unknown = '0193f1c0-8f3e-7cc0-9a53-6d1b6a1f2b3c'
    await expect(findJob(table, unknown, undefined)).rejects.toThrow(
      `none of the 1 tenants has a job ${unknown}; records are kept 30 days`,
    )
  })

  it('refuses what is no job id', async () => {
    await expect(findJob(table, 'x', undefined)).rejects.toThrow(UsageError)
  })
})
