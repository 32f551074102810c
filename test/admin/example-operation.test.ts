import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { serveWrite } from '#lambdas/admin/serve-operation.ts'
import { adminHandler } from '#middleware/admin-chain.ts'
import { readAudit } from '#store/audit/read-audit.ts'
import { runCommand } from '../cli/admin/run-command.ts'
import { testCatalogue } from '../engines/test-catalogue.ts'
import { useTestTable } from '../engines/use-test-table.ts'
import { openTenant } from '../engines/video-jobs.ts'
import { adminEvent, tableWithSession } from '../middleware/admin-exchange.ts'
import { context } from '../middleware/api-exchange.ts'
import { renameTenant, renameTenantDocument, tenantRename } from './example-operation.ts'

const ROOT = join(import.meta.dirname, '../..')

describe('the example operation of CONTRIBUTING', () => {
  const engine = useTestTable()
  process.env.CONSOLE_ORIGIN = 'loopback'

  it('is printed there as this test builds it', () => {
    const [, example = ''] = readFileSync(join(import.meta.dirname, 'example-operation.ts'), 'utf8').split(
      '// Example\n',
    )
    expect(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')).toContain(`\`\`\`ts\n${example}\`\`\``)
  })

  it('responds over HTTP with the JSON that its command prints, with one word in the audit log', async () => {
    const { table } = engine
    const { tenantId } = await openTenant(table)
    const { config } = testCatalogue()
    const unused = { config: () => config, checkModels: async () => undefined }
    const services = () => ({ table, nowMilliseconds: Date.now, ...unused })
    const handler = adminHandler('write', [serveWrite(renameTenant, services)], { openTable: tableWithSession() })
    const path = `/admin/v1/tenants/${tenantId}/name`
    const { statusCode, body } = await handler(adminEvent('POST', path, { body: '{"name":"Acme"}' }), context)
    const options = { tenant: tenantId, name: 'Acme 2' }
    const { json, text } = await runCommand(tenantRename, { table, options })
    expect({ statusCode, body: renameTenantDocument.output.parse(JSON.parse(body)) }).toEqual({
      statusCode: 200,
      body: { id: tenantId, name: 'Acme' },
    })
    expect(json).toEqual({ id: tenantId, name: 'Acme 2' })
    expect(text).toMatch(/^id +\S+\nname +Acme 2$/)
    const { entries } = await readAudit(table, { limit: 2, targets: [tenantId] })
    expect(entries.map(({ action }) => action)).toEqual([renameTenant.audit, renameTenant.audit])
  })

  it('has the option that its schema describes, and refuses on the command line what HTTP refuses', async () => {
    expect(tenantRename.options?.name).toMatchObject({ value: 'NAME', summary: 'for people', required: true })
    const options = { tenant: 'nobody', name: 'two\nlines' }
    await expect(runCommand(tenantRename, { table: engine.table, options })).rejects.toThrow(/^--name: use one line/)
  })
})
