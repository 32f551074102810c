import { makeTenant } from '#adapters/store/accounts/create-tenant.ts'
import { grantTenant } from '#adapters/store/accounts/grant-credits.ts'
import { setOpenJobLimit } from '#adapters/store/accounts/open-job-limit.ts'
import { getTenant, listTenants, type Tenant, type TenantListing } from '#adapters/store/accounts/tenant-store.ts'
import { resumeTenant, suspendTenant } from '#adapters/store/accounts/tenant-suspension.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { formatCredits } from '#core/money/money.ts'
import { UsageError } from '../../terminal/usage-error.ts'
import { type Answer, formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { requireName } from '../command-line/read-name.ts'
import { OPEN_JOBS_DEFAULT } from '../default-limits.ts'
import { readCredits } from './read-credits.ts'
import { readOpenJobs } from './read-open-jobs.ts'

const TENANT = { value: 'ID', summary: 'the tenant', required: true } as const

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
    return describe(await makeTenant(await context.table(), tenant, await context.actor()), { withSecret: true })
  },
}

/** A tenant with its balance. @throws TenantNotFoundError. */
export const tenantShow: Command = {
  name: 'tenant show',
  summary: 'show a tenant: balance, state and open jobs',
  details: 'During a rotation, `callback-secret show` shows both secrets.',
  options: { tenant: TENANT, 'show-secret': { summary: 'include the callback secret' } },
  examples: ['tenant show --tenant demo --local', 'tenant show --tenant demo --show-secret --json'],
  async run(context, values) {
    const tenant = await getTenant(await context.table(), values.required('tenant'))
    return describe(tenant, { withSecret: values.has('show-secret') })
  },
}

/** Every tenant. */
export const tenantList: Command = {
  name: 'tenant list',
  summary: 'list the tenants with their balances, states and open jobs',
  examples: ['tenant list --local', 'tenant list --stage prod --json'],
  async run(context) {
    const tenants = (await listTenants(await context.table())).map(rowOf)
    const rows = tenants.map((row) => [
      row.id,
      row.name,
      row.state,
      row.available,
      row.held,
      row.spent,
      row.granted,
      openJobsText(row.open_jobs, row.open_jobs_max),
    ])
    const header = ['TENANT', 'NAME', 'STATE', 'AVAILABLE', 'HELD', 'SPENT', 'GRANTED', 'OPEN JOBS']
    return { json: { tenants }, text: formatTable(header, rows) }
  },
}

/** An invoice number, for example. All characters are safe in a table key and on a terminal. */
const GRANT_ID = /^[\w.:-]{1,64}$/

/** Adds credits to a tenant, once per id. @throws TenantNotFoundError; GrantIdTakenError. */
export const tenantGrant: Command = {
  name: 'tenant grant',
  summary: 'add credits to a tenant; without --id, each run is a new grant',
  details: `With --id, such as an invoice number, the command can be repeated after a lost response: the grant is made once, and an id that
was used for another amount is refused.`,
  options: {
    tenant: TENANT,
    credits: { value: 'CREDITS', summary: 'such as 5 or 0.25', required: true },
    id: { value: 'ID', summary: 'makes the command safe to repeat: up to 64 letters, digits, and . : _ -' },
  },
  examples: [
    'tenant grant --tenant demo --credits 5 --local',
    'tenant grant --tenant demo --credits 5 --id invoice-1042',
  ],
  async run(context, values) {
    const credits = readCredits(values)
    if (credits === 0n) {
      throw new UsageError(`--credits ${values.required('credits')}: use an amount above zero`)
    }
    const id = values.text('id')
    if (id !== undefined && !GRANT_ID.test(id)) {
      throw new UsageError('--id: use up to 64 letters, digits, and . : _ -')
    }
    const { tenant, isNew } = await grantTenant(await context.table(), values.required('tenant'), {
      id,
      credits,
      actor: await context.actor(),
    })
    if (!isNew) {
      context.warn(`grant ${id} already exists: nothing was added`)
    }
    return describe(tenant, { withSecret: false })
  },
}

/** @throws TenantNotFoundError; TenantStateChangedError if the tenant was resumed at the same time. */
export const tenantSuspend: Command = {
  name: 'tenant suspend',
  summary: 'refuse every key of a tenant from the next request on; open jobs and requests finish',
  details: 'Keys that are created during the suspension are refused too. `tenant resume` ends the suspension.',
  options: { tenant: TENANT },
  examples: ['tenant suspend --tenant demo --local', 'tenant suspend --tenant demo --yes --json'],
  async run(context, values) {
    const tenant = values.required('tenant')
    const { name } = await getTenant(await context.table(), tenant)
    await context.confirm(`Every key of ${name} (${tenant}) will be refused from the next request on`)
    await suspendTenant(await context.table(), tenant, { actor: await context.actor() })
    return changed(await context.table(), tenant)
  },
}

/** @throws TenantNotFoundError; TenantStateChangedError if the tenant was suspended at the same time. */
export const tenantResume: Command = {
  name: 'tenant resume',
  summary: 'end a suspension: keys that are neither revoked nor expired work again',
  options: { tenant: TENANT },
  examples: ['tenant resume --tenant demo --local'],
  async run(context, values) {
    await resumeTenant(await context.table(), values.required('tenant'), { actor: await context.actor() })
    return changed(await context.table(), values.required('tenant'))
  },
}

/** @throws TenantNotFoundError. */
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
    const limit = readOpenJobs(values.required('open-jobs'))
    await setOpenJobLimit(await context.table(), values.required('tenant'), { limit, actor: await context.actor() })
    return changed(await context.table(), values.required('tenant'))
  },
}

/** The secret signs callbacks in the operator's name, so it is shown only when it was created or requested. */
function describe(tenant: Tenant, { withSecret }: { readonly withSecret: boolean }): Answer {
  const { id, name, webhookSecret, balance, state, openJobs } = tenant
  const json = {
    id,
    name,
    available: formatCredits(balance.available),
    held: formatCredits(balance.held),
    spent: formatCredits(balance.spent),
    granted: formatCredits(balance.granted),
    ...(withSecret ? { webhook_secret: webhookSecret } : {}),
  }
  const more = { state, open_jobs: openJobsText(openJobs.count, openJobs.max) }
  return { json, text: formatTable([], Object.entries({ ...json, ...more })) }
}

async function changed(table: Table, tenantId: string): Promise<Answer> {
  const json = rowOf(await getTenant(table, tenantId))
  const { open_jobs, open_jobs_max, ...row } = json
  return { json, text: formatTable([], Object.entries({ ...row, open_jobs: openJobsText(open_jobs, open_jobs_max) })) }
}

function rowOf({ id, name, state, balance, openJobs }: TenantListing) {
  return {
    id,
    name,
    state,
    available: formatCredits(balance.available),
    held: formatCredits(balance.held),
    spent: formatCredits(balance.spent),
    granted: formatCredits(balance.granted),
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
  }
}

function openJobsText(count: number, max: number | null): string {
  return max === null ? String(count) : `${count} of ${max}`
}
