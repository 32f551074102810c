import { beforeAll, describe, expect, it } from 'vitest'
import type { Table } from '#store/table/table.ts'
import type { Command } from '../../../lib/cli/admin/command.ts'
import { tenantList, tenantResume, tenantShow, tenantSuspend } from '../../../lib/cli/admin/tenants.ts'
import { useTestTable } from '../../engines/start-test-table.ts'
import { openTenant } from '../../engines/video-jobs.ts'
import { runCommand } from '../command-line/run-command.ts'

const engine = useTestTable()
let table: Table
beforeAll(async () => {
  table = engine.table
})

describe('tenant-state-commands', () => {
  it('a suspended tenant is shown and listed with who suspended it, since when and why, until it is resumed', async () => {
    const { tenantId } = await openTenant(table)
    const options = { tenant: tenantId, reason: 'unpaid since October' }
    await runCommand(tenantSuspend, { table, options })
    const by = expect.stringMatching(/suspended since \S+Z by tester@test: unpaid since October/)
    expect((await runCommand(tenantShow, { table, options: { tenant: tenantId } })).text).toEqual(by)
    const listed = await runCommand(tenantList, { table })
    expect(listed.text).toEqual(by)
    expect(listed.json).toMatchObject({
      tenants: [{ suspension: { since: expect.any(String), by: 'tester@test', reason: 'unpaid since October' } }],
    })
    const resumed = await runCommand(tenantResume, { table, options: { tenant: tenantId } })
    expect(resumed.json).not.toHaveProperty('suspension')
  })

  it('find a tenant by its name, and confirm with both', async () => {
    const fresh = await engine.fresh()
    const { tenantId } = await openTenant(fresh)
    const asked: string[] = []
    const confirm = async (sentence: string) => void asked.push(sentence)
    const answer = await runCommand(tenantSuspend, { table: fresh, confirm, options: { tenant: 'Test' } })
    expect(answer).toMatchObject({ json: { id: tenantId, state: 'suspended' } })
    expect(asked).toEqual([`Every key of Test (${tenantId}) will be refused from the next request on`])
  })

  it('say when the tenant is in that state already, and leave who did it as it is', async () => {
    const { tenantId } = await openTenant(table)
    const warnings: string[] = []
    const warn = (sentence: string) => void warnings.push(sentence)
    const run = (command: Command, reason?: string) =>
      runCommand(command, { table, warn, options: { tenant: tenantId, reason } })
    await run(tenantResume)
    await run(tenantSuspend, 'unpaid')
    const { json } = await run(tenantSuspend, 'fraud')
    expect(json).toMatchObject({ suspension: { reason: 'unpaid' } })
    expect(warnings).toEqual([
      `tenant ${tenantId} is not suspended: nothing was changed`,
      `tenant ${tenantId} is suspended already: since when, by whom and why stay as they are`,
    ])
  })

  it.each(['', ' ', 'a\nb', 'x'.repeat(501)])('refuse the reason %j', async (reason) => {
    const { tenantId } = await openTenant(table)
    await expect(runCommand(tenantSuspend, { table, options: { tenant: tenantId, reason } })).rejects.toThrow(
      '--reason: use one line of 1 to 500 visible characters',
    )
  })
})
