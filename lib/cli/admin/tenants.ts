import { balanceAmounts } from '#core/api/balance.ts'
import type { Budget } from '#core/budgets.ts'
import { OPEN_JOBS_DEFAULT } from '#core/limits.ts'
import { budgetJson } from '#lambdas/admin/budgets.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import type { Table } from '#store/table/table.ts'
import { changeTenant } from '#store/tenants/change-tenant.ts'
import { adjustTenant, grantTenant } from '#store/tenants/credits.ts'
import { makeTenant, resumeTenant, suspendTenant } from '#store/tenants/tenant-lifecycle.ts'
import { getTenant, listTenantNames, listTenants, type Tenant, type TenantListing } from '#store/tenants/tenants.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { budgetLine, readLimit } from './budgets.ts'
import type { Command, CommandValues } from './command.ts'
import { readCredits, readLine, readSignedCredits, readTenantId, requireName, TENANT } from './read-options.ts'

/** The secret signs callbacks in the operator's name, so it is shown only when it was created or requested. */
export function describeTenant(tenant: Tenant, { withSecret }: { readonly withSecret: boolean }): Output {
  const { id, name, webhookSecret, balance, openJobs, budget } = tenant
  const now = Date.now()
  const json = {
    id,
    name,
    ...balanceAmounts(balance),
    ...(withSecret ? { webhook_secret: webhookSecret } : {}),
  }
  const more = { state: stateText(tenant), open_jobs: openJobsText(openJobs.count, openJobs.max) }
  const limited = budget === null ? {} : { budget: budgetText(budget, now) }
  return {
    json: {
      ...json,
      state: tenant.state,
      open_jobs: openJobs.count,
      open_jobs_max: openJobs.max,
      budget: budgetJson(budget, now),
      ...suspensionOf(tenant),
    },
    text: formatTable([], Object.entries({ ...json, ...more, ...limited })),
  }
}

function budgetText(budget: Budget, nowMilliseconds: number): string {
  const json = budgetJson(budget, nowMilliseconds)
  return json === null ? '' : budgetLine(json)
}

/** A tenant after a change of its state or limits. */
export async function describeChangedTenant(table: Table, tenantId: string): Promise<Output> {
  const tenant = await getTenant(table, tenantId)
  const json = tenantRow(tenant)
  const { open_jobs, open_jobs_max, suspension: _, ...row } = json
  const text = { ...row, state: stateText(tenant), open_jobs: openJobsText(open_jobs, open_jobs_max) }
  return { json, text: formatTable([], Object.entries(text)) }
}

/** A tenant as one object of a list. A tenant that is not suspended has no `suspension`. */
export function tenantRow(tenant: TenantListing) {
  const { id, name, state, balance, openJobs } = tenant
  return {
    id,
    name,
    state,
    ...balanceAmounts(balance),
    open_jobs: openJobs.count,
    open_jobs_max: openJobs.max,
    ...suspensionOf(tenant),
  }
}

type Suspendable = Pick<TenantListing, 'state' | 'suspension'>
type ShownSuspension = { readonly since: string; readonly by: string; readonly reason: string | null }

function suspensionOf({ suspension }: Suspendable): { readonly suspension?: ShownSuspension } {
  if (suspension === null) {
    return {}
  }
  const { at, by, reason } = suspension
  return { suspension: { since: new Date(at).toISOString(), by, reason } }
}

/** Such as `suspended since 2026-11-22T10:00:00.000Z by alice@laptop: unpaid`. */
export function stateText(tenant: Suspendable): string {
  const { suspension } = suspensionOf(tenant)
  if (suspension === undefined) {
    return tenant.state
  }
  const { since, by, reason } = suspension
  return `${tenant.state} since ${since} by ${by}${reason === null ? '' : `: ${reason}`}`
}

/** Such as `3 of 10`. */
export function openJobsText(count: number, max: number | null): string {
  return max === null ? String(count) : `${count} of ${max}`
}

/** A limit of open video jobs, from 0; null for `none`. @throws UsageError for anything else. */
export function readOpenJobs(text: string): number | null {
  if (text === 'none') {
    return null
  }
  const limit = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(limit)) {
    throw new UsageError(`--open-jobs ${text}: use a whole number from 0, or none`)
  }
  return limit
}

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

/** An invoice number, for example. All characters are safe in a table key and on a terminal. */
const ROW_ID = /^[\w.:-]{1,64}$/

const ID = { value: 'ID', summary: 'makes the command safe to repeat: up to 64 letters, digits, and . : _ -' } as const

/** Adds credits to a tenant, once per id. @throws StoreRefusal `not_found`, `id_taken`. */
export const tenantGrant: Command = {
  name: 'tenant grant',
  summary: 'add credits to a tenant; without --id, each run is a new grant',
  details: `With --id, such as an invoice number, the command can be repeated after a lost response: the grant is made once, and an id that
was used for another amount is refused.`,
  options: {
    tenant: TENANT,
    credits: { value: 'CREDITS', summary: 'such as 5 or 0.25', required: true },
    id: ID,
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
    const id = readId(values)
    const { tenant, isNew } = await grantTenant(await context.table(), await readTenantId(context, values), {
      id,
      credits,
      actor: await context.actor(),
    })
    if (!isNew) {
      context.warn(`grant ${id} already exists: nothing was added`)
    }
    return describeTenant(tenant, { withSecret: false })
  },
}

/** Corrects what was granted to a tenant, once per id. @throws StoreRefusal `not_found`, `below_zero`, `id_taken`. */
export const tenantAdjust: Command = {
  name: 'tenant adjust',
  summary: 'correct the credits of a tenant: what is available and what was granted move alike',
  details: `The ledger gets a row of kind \`adjust\` with the reason. With --id, the command can be repeated after a lost response. Credits that are
not available are not taken away, unless --allow-debt is given: the tenant then owes the rest, and can spend nothing until it is covered.`,
  options: {
    tenant: TENANT,
    amount: { value: 'CREDITS', summary: 'such as -5 or 0.25', required: true },
    reason: { value: 'SENTENCE', summary: 'why, for the ledger and the audit log', required: true },
    id: ID,
    'allow-debt': { summary: 'the available balance may fall below zero' },
  },
  examples: [
    'tenant adjust --tenant demo --amount -5 --reason "granted twice" --local',
    'tenant adjust --tenant demo --amount 2.50 --reason "refund of job 0193f1c0" --id ticket-77 --stage prod',
  ],
  async run(context, values) {
    const adjustment = {
      amount: readSignedCredits(values),
      reason: readLine('reason', values.required('reason')),
      id: readId(values),
      isDebtAllowed: values.has('allow-debt'),
    }
    const tenantId = await readTenantId(context, values)
    const by = { actor: await context.actor() }
    const { tenant, isNew } = await adjusted(adjustTenant(await context.table(), tenantId, { ...adjustment, ...by }))
    if (!isNew) {
      context.warn(`adjustment ${adjustment.id} already exists: nothing was changed`)
    }
    return describeTenant(tenant, { withSecret: false })
  },
}

/** Adds the option that permits what was refused. */
async function adjusted<Value>(adjusting: Promise<Value>): Promise<Value> {
  try {
    return await adjusting
  } catch (error) {
    throw isRefusal(error, 'below_zero')
      ? new StoreRefusal('below_zero', `${error.message}; --allow-debt permits this`, { cause: error })
      : error
  }
}

function readId(values: CommandValues): string | undefined {
  const id = values.text('id')
  if (id !== undefined && !ROW_ID.test(id)) {
    throw new UsageError('--id: use up to 64 letters, digits, and . : _ -')
  }
  return id
}

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

/** Shows, sets, changes or ends the budget of a tenant. @throws StoreRefusal `not_found`, `changed_meanwhile`. */
export const tenantBudget: Command = {
  name: 'tenant budget',
  summary: 'show or change what a tenant may spend in a day, in a month or in all',
  details: `Without a change, the command shows the budget. Spent and held credits together never exceed the budget, but for an overdraft or a lowered amount. A budget begins with what the
usage counters of its period say. To count again, after a restore for example, set the same budget again.`,
  options: {
    tenant: TENANT,
    amount: { value: 'CREDITS', summary: 'what may be spent in a period, such as 100 or 0.25' },
    period: { value: 'day|month|total', summary: 'when the budget starts again, in UTC; `total`: never' },
    clear: { summary: 'end the budget' },
  },
  examples: [
    'tenant budget --tenant demo --local',
    'tenant budget --tenant demo --amount 100 --period month --local',
    'tenant budget --tenant demo --clear --json',
  ],
  async run(context, values) {
    const isChange = ['amount', 'period', 'clear'].some((option) => values.has(option))
    const limit = isChange ? readLimit(values) : undefined
    const table = await context.table()
    const tenantId = await readTenantId(context, values)
    if (limit === undefined) {
      return await showBudget(table, tenantId)
    }
    const actor = await context.actor()
    const { isChanged, isExact } = await changeTenant(table, { tenantId, settings: { budget: limit }, actor })
    if (!isChanged) {
      context.warn(`tenant ${tenantId} has this budget already: nothing was changed`)
    }
    if (!isExact) {
      context.warn('requests were settled meanwhile: the starting amount may be slightly high')
    }
    return await showBudget(table, tenantId)
  },
}

async function showBudget(table: Table, tenantId: string): Promise<Output> {
  const { budget } = await getTenant(table, tenantId)
  const now = Date.now()
  return {
    json: { id: tenantId, budget: budgetJson(budget, now) },
    text: `tenant ${tenantId}: ${budget === null ? 'no budget' : `budget ${budgetText(budget, now)}`}`,
  }
}
