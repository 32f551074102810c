import { getTenant } from '#adapters/store/accounts/tenant-store.ts'
import { resumeTenant, suspendTenant } from '#adapters/store/accounts/tenant-suspension.ts'
import type { Command } from '../command-line/command.ts'
import { readLine } from '../command-line/read-name.ts'
import { describeChangedTenant } from './describe-tenant.ts'
import { readTenantId, TENANT } from './read-tenant.ts'

/** @throws StoreRefusal `not_found`, `changed_meanwhile` if the tenant was resumed at the same time. */
export const tenantSuspend: Command = {
  name: 'tenant suspend',
  summary: 'refuse every key of a tenant from the next request on; open jobs and requests finish',
  details: `Keys that are created during the suspension are refused too. \`tenant show\` says since when, by whom and why the tenant is suspended.
\`tenant resume\` ends the suspension.`,
  options: { tenant: TENANT, reason: { value: 'SENTENCE', summary: 'why, for `tenant show` and the audit log' } },
  examples: [
    'tenant suspend --tenant demo --local',
    'tenant suspend --tenant demo --reason "unpaid since October" --yes --json',
  ],
  async run(context, values) {
    const table = await context.table()
    const tenantId = await readTenantId(context, values)
    const given = values.text('reason')
    const reason = given === undefined ? undefined : readLine('reason', given)
    const { name, state } = await getTenant(table, tenantId)
    if (state === 'suspended') {
      context.warn(`tenant ${tenantId} is suspended already: since when, by whom and why stay as they are`)
    }
    await context.confirm(`Every key of ${name} (${tenantId}) will be refused from the next request on`)
    await suspendTenant(table, tenantId, { actor: await context.actor(), reason })
    return await describeChangedTenant(table, tenantId)
  },
}

/** @throws StoreRefusal `not_found`, `changed_meanwhile` if the tenant was suspended at the same time. */
export const tenantResume: Command = {
  name: 'tenant resume',
  summary: 'end a suspension: keys that are neither revoked nor expired work again',
  options: { tenant: TENANT },
  examples: ['tenant resume --tenant demo --local'],
  async run(context, values) {
    const tenantId = await readTenantId(context, values)
    const table = await context.table()
    const { state } = await getTenant(table, tenantId)
    if (state === 'active') {
      context.warn(`tenant ${tenantId} is not suspended: nothing was changed`)
    }
    await resumeTenant(table, tenantId, { actor: await context.actor() })
    return await describeChangedTenant(table, tenantId)
  },
}
