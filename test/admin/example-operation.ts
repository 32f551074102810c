import * as z from 'zod'
import { requestObject } from '#core/admin/parse-request.ts'
import { nameField } from '#core/admin/request-fields.ts'
import { defineOperation } from '#lambdas/admin/operation.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { documentOperation } from '../../lib/cli/admin/document.ts'
import { commandOf } from '../../lib/cli/admin/operation-command.ts'
import { findTenantId } from '../../lib/cli/admin/read-options.ts'

// Example
export const renameTenant = defineOperation({
  name: 'rename-tenant',
  method: 'POST',
  path: '/admin/v1/tenants/{tenant_id}/name',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  audit: 'tenant set',
  body: () => requestObject({ name: nameField() }),
  async run({ tenant_id: tenantId, name }, { table, actor }) {
    await changeTenant(table, { tenantId, settings: { name }, actor })
    return { id: tenantId, name }
  },
})

export const renameTenantDocument = documentOperation(renameTenant, {
  summary: 'rename a tenant',
  returns: 'The tenant.',
  output: z.strictObject({ id: z.string(), name: z.string() }),
})

export const tenantRename = commandOf(renameTenantDocument, {
  name: 'tenant rename',
  options: {
    tenant: { field: 'tenant_id', value: 'ID|NAME', summary: 'the tenant', required: true, find: findTenantId },
  },
  examples: ['tenant rename --tenant demo --name Acme --local'],
})
