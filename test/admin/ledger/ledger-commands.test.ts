import { DeleteCommand } from '@aws-sdk/lib-dynamodb'
import { beforeEach, describe, expect, it } from 'vitest'
import { tableKeys } from '#store/table/table-keys.ts'
import { ledgerShow, ledgerVerify } from '../../../lib/cli/admin/ledger.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import type { TableWithClient } from '../../engines/table-with-client.ts'
import { openTenant, reserveJob, type TestTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()
let table: TableWithClient
let tenant: TestTenant
beforeEach(async () => {
  table = await engine.fresh()
  tenant = await openTenant(table)
})

describe('ledger-commands: ledger', () => {
  it('shows the newest entries of the tenant, as many as asked for', async () => {
    const job = await reserveJob(table, tenant, { createdAt: Math.trunc(Date.now() / 1000) + 60 })
    const options = { tenant: tenant.tenantId }
    const all = await runCommand(ledgerShow, { table, options })
    expect(all.json).toMatchObject({
      entries: [
        { kind: 'reserve', job: job.jobId },
        { kind: 'grant', amount: '100' },
      ],
    })
    expect(all.text.split('\n')[0]).toMatch(/^AT +KIND +AMOUNT +ACTUAL +JOB +/)
    const newest = await runCommand(ledgerShow, { table, options: { ...options, limit: '1' } })
    expect(newest.json).toMatchObject({ entries: [{ kind: 'reserve' }] })
    expect(newest.text.split('\n')).toHaveLength(2)
  })

  it('refuses a tenant that does not exist', async () => {
    await expect(runCommand(ledgerShow, { table, options: { tenant: 'nobody' } })).rejects.toThrow('no tenant nobody')
  })
})

describe('ledger-commands: ledger verify', () => {
  it('is ok where every invariant holds', async () => {
    await reserveJob(table, tenant)
    const answer = await runCommand(ledgerVerify, { table })
    expect(answer).toMatchObject({ json: { ok: true, broken: [] }, text: 'every invariant holds', isOk: true })
  })

  it('names what is broken and its tenant, of one tenant if asked, and is not ok', async () => {
    const job = await reserveJob(table, tenant)
    await table.client.send(
      new DeleteCommand({ TableName: table.name, Key: tableKeys.ledgerReserve(tenant.tenantId, job.jobId) }),
    )
    const answer = await runCommand(ledgerVerify, { table, options: { tenant: tenant.tenantId } })
    expect(answer).toMatchObject({ json: { ok: false }, isOk: false })
    expect(answer.text).toContain(`${tenant.tenantId}: `)
    const other = (await openTenant(table)).tenantId
    expect(await runCommand(ledgerVerify, { table, options: { tenant: other } })).toMatchObject({ isOk: true })
  })
})
