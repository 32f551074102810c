import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { getTenant, listTenantNames, listTenants } from '#adapters/store/accounts/tenant-store.ts'
import { changeTenant } from '#adapters/store/money/change-tenant.ts'
import { OPEN_JOBS_DEFAULT } from '#core/limits.ts'
import { formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { requireName } from '../command-line/read-name.ts'
import { describeChangedTenant, describeTenant, openJobsText, stateText, tenantRow } from './describe-tenant.ts'
import { readCredits } from './read-credits.ts'
import { readOpenJobs } from './read-open-jobs.ts'
import { readTenantId, TENANT } from './read-tenant.ts'

/** Creates a tenant, its callback secret and its first grant. */
export const tenantCreate: Command = {
  name: 'tenant create',
  summary: 'create a tenant, its callback secret and its first grant',
  options: {
    name: { value: 'NAME', summary: 'name for people; the id is generated', required: true },
    credits: { value: 'CREDITS', summary: 'first grant, such as 10.00; up to six decimal places', required: true },
    'open-jobs': {
      value: 'N|none',
      summary: `maximum number of open video jobs, or \`none\`; default: ${OPEN_JOBS_DEFAULT}`,
    },
  },
  examples: [
    'tenant create --name Acme --credits 100.00 --stage prod',
    'tenant create --name Trial --credits 0 --json',
  ],
  async run(context, values) {
    const openJobsMax = readOpenJobs(values.text('open-jobs') ?? String(OPEN_JOBS_DEFAULT))
    const tenant = { name: requireName(values), credits: readCredits(values), openJobsMax }
    const table = await context.table()
    if ((await listTenantNames(table)).some(({ name }) => name === tenant.name)) {
      context.warn(`another tenant has the name ${tenant.name}: commands find both by their ids only`)
    }
    return describeTenant(await makeTenant(table, tenant, await context.actor()), { withSecret: true })
  },
}

/** A tenant with its balance. @throws StoreRefusal `not_found`. */
export const tenantShow: Command = {
  name: 'tenant show',
  summary: 'show a tenant: balance, state, open jobs and budget',
  details: 'During a rotation, `callback-secret show` shows both secrets.',
  options: { tenant: TENANT, 'show-secret': { summary: 'include the callback secret' } },
  examples: ['tenant show --tenant demo --local', 'tenant show --tenant demo --show-secret --json'],
  async run(context, values) {
    const tenant = await getTenant(await context.table(), await readTenantId(context, values))
    return describeTenant(tenant, { withSecret: values.has('show-secret') })
  },
}

/** Every tenant. */
export const tenantList: Command = {
  name: 'tenant list',
  summary: 'list the tenants with their balances, states and open jobs',
  examples: ['tenant list --local', 'tenant list --stage prod --json'],
  async run(context) {
    const listed = await listTenants(await context.table())
    const tenants = listed.map(tenantRow)
    const rows = listed.map((tenant) => {
      const row = tenantRow(tenant)
      const jobs = openJobsText(row.open_jobs, row.open_jobs_max)
      return [row.id, row.name, stateText(tenant), row.available, row.held, row.spent, row.granted, jobs]
    })
    const header = ['TENANT', 'NAME', 'STATE', 'AVAILABLE', 'HELD', 'SPENT', 'GRANTED', 'OPEN JOBS']
    return { json: { tenants }, text: formatTable(header, rows) }
  },
}

/** @throws StoreRefusal `not_found`. */
export const tenantLimit: Command = {
  name: 'tenant limit',
  summary: 'limit the number of open video jobs of a tenant',
  details: 'The limit applies from the next create request on, which gets a 429 above it. Open jobs are not affected.',
  options: {
    tenant: TENANT,
    'open-jobs': { value: 'N|none', summary: 'maximum, from 0; `none` removes the limit', required: true },
  },
  examples: [
    'tenant limit --tenant demo --open-jobs 20 --local',
    'tenant limit --tenant demo --open-jobs none --local',
  ],
  async run(context, values) {
    const openJobsMax = readOpenJobs(values.required('open-jobs'))
    const tenantId = await readTenantId(context, values)
    const table = await context.table()
    await changeTenant(table, { tenantId, settings: { openJobsMax }, actor: await context.actor() })
    return await describeChangedTenant(table, tenantId)
  },
}
