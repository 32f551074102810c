import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod'
import { amountField, isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import type { BudgetLimit } from '#core/budgets.ts'
import { OPEN_JOBS_DEFAULT } from '#core/limits.ts'
import { parsePositiveCredits, parseSignedCredits } from '#core/money.ts'
import { USER_KEEPINGS, type UserKeeping } from '#core/named-users.ts'
import { getTenant as getTenantOperation, listTenants, type tenantJson } from '#lambdas/admin/tenants.ts'
import {
  adjustCredits,
  changeAlerts,
  changeTenant,
  createTenant,
  grantCredits,
  resumeTenant,
  suspendTenant,
} from '#lambdas/admin/tenants.writes.ts'
import { isRefusal, StoreRefusal } from '#store/store-refusal.ts'
import { getTenant } from '#store/tenants/tenants.ts'
import { formatTable } from '../output.ts'
import { UsageError } from '../terminal.ts'
import { budgetLine, readLimit } from './budgets.ts'
import type { Command, CommandValues } from './command.ts'
import { documentOperation } from './document.ts'
import { budget as budgetFields } from './keys.ts'
import { commandOf, type FieldOption } from './operation-command.ts'
import { readAmount, readName, TENANT as TENANT_OPTION } from './read-options.ts'

/** A tenant, without its callback secret. */
const tenantFields = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(['active', 'suspended']),
  available: amountField.describe('What new requests may reserve. Negative after an overdraft.'),
  held: amountField.describe('Reserved by open requests and jobs.'),
  spent: amountField.describe('Settled since the tenant was created.'),
  granted: amountField.describe('available + held + spent.'),
  open_jobs: z.int(),
  open_jobs_max: z.int().nullable().describe('Null for as many as the tenant can pay for.'),
  budget: budgetFields.nullable(),
  created_at: isoTimeField,
  users: z
    .enum(['digest', 'given'])
    .optional()
    .describe('How users that requests name are counted. Left out where they are not.'),
  suspension: z
    .strictObject({ since: isoTimeField, by: z.string(), reason: z.string().nullable() })
    .optional()
    .describe('Left out for a tenant that is not suspended, and for API keys.'),
})

const alertFields = {
  thresholds: z.array(z.number()).readonly().describe('Percentages of every budget of the tenant.'),
  low_balance: amountField.nullable().describe('The balance below which an alert is sent; null for none.'),
  url_host: z.string().nullable().describe('Where the tenant gets its alerts; null if only operators get them.'),
}

/** A tenant with how it is alerted. */
const tenantDetail = z.strictObject({
  ...tenantFields.shape,
  alerts: z.strictObject(alertFields),
})

const posted = z.strictObject({
  ...tenantFields.shape,
  repeated: z.boolean().describe('True for an id that was used before for the same amount: nothing was moved.'),
})

const returns = 'The tenant.'

/** The operations of tenants, as people read about them. */
export const TENANT_DOCUMENTS = {
  listTenants: documentOperation(listTenants, {
    summary: 'list the tenants with their balances, states and open jobs',
    description: 'From the summary of the last minute.',
    returns: 'Tenants by id.',
    output: z.strictObject({ tenants: z.array(tenantFields), ...pageFields }),
  }),
  getTenant: documentOperation(getTenantOperation, {
    summary: 'show a tenant: balance, state, open jobs and budget',
    returns,
    output: tenantDetail,
  }),
  createTenant: documentOperation(createTenant, {
    summary: 'create a tenant, its callback secret and its first grant',
    description: 'Once for each `id`. The same `id` with another name or other credits is a 409 with code `id_taken`.',
    returns,
    output: tenantFields.extend({
      repeated: z.boolean().optional().describe('True for an `id` whose tenant was made before; else left out.'),
    }),
  }),
  changeTenant: documentOperation(changeTenant, {
    summary: 'change the name, the limit of open jobs or the budget of a tenant',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    returns,
    output: tenantFields,
  }),
  changeAlerts: documentOperation(changeAlerts, {
    summary: 'change where and when a tenant is alerted about its budgets and its balance',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    returns: 'How the tenant is alerted.',
    output: z.strictObject({ tenant: z.string(), ...alertFields }),
  }),
  grantCredits: documentOperation(grantCredits, {
    summary: 'add credits to a tenant',
    description: 'Once for each `id`. The same `id` with another amount is a 409 with code `id_taken`.',
    returns,
    output: posted,
  }),
  adjustCredits: documentOperation(adjustCredits, {
    summary: 'correct the credits of a tenant: what is available and what was granted move alike',
    description: 'Once for each `id`. Below zero is a 409 with code `below_zero`, unless `allow_debt` is true.',
    returns,
    output: posted,
  }),
  suspendTenant: documentOperation(suspendTenant, {
    summary: 'refuse every key of a tenant from the next request on; open jobs and requests finish',
    returns,
    output: tenantFields,
  }),
  resumeTenant: documentOperation(resumeTenant, {
    summary: 'end a suspension: keys that are neither revoked nor expired work again',
    returns,
    output: tenantFields,
  }),
}

/** Parts of the responses that have names of their own in `admin-openapi.json`. */
export const TENANT_SCHEMAS = { Tenant: tenantFields, TenantDetail: tenantDetail, ChangedBalance: posted }

type ShownTenant = ReturnType<typeof tenantJson> & { readonly webhook_secret?: string }

/** The cells of a tenant, by the names of their lines. A line without a value is left out. */
function cellsOf(tenant: ShownTenant) {
  const { state, suspension, open_jobs: count, open_jobs_max: max, budget } = tenant
  const reason = suspension?.reason ? `: ${suspension.reason}` : ''
  return {
    ...tenant,
    state: suspension === undefined ? state : `${state} since ${suspension.since} by ${suspension.by}${reason}`,
    open_jobs: max === null ? String(count) : `${count} of ${max}`,
    budget: budget === null ? undefined : budgetLine(budget),
  }
}

const BALANCE = ['available', 'held', 'spent', 'granted'] as const
const SHOWN = ['id', 'name', ...BALANCE, 'webhook_secret', 'state', 'open_jobs', 'budget', 'users'] as const
const LISTED = ['id', 'name', 'state', ...BALANCE, 'open_jobs'] as const

function linesOf(tenant: ShownTenant): string {
  const cells = cellsOf(tenant)
  return formatTable(
    [],
    SHOWN.map((name) => [name, cells[name]]).filter((line): line is string[] => line[1] !== undefined),
  )
}

/** A limit of open video jobs, from 0; null for `none`. @throws UsageError for anything else. */
function readOpenJobs(text: string): number | null {
  if (text === 'none') {
    return null
  }
  const limit = Number(text)
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(limit)) {
    throw new UsageError(`--open-jobs ${text}: use a whole number from 0, or none`)
  }
  return limit
}

const OPEN_JOBS = { value: 'N|none', field: 'open_jobs_max', read: readOpenJobs } as const
const TENANT = { ...TENANT_OPTION, field: 'tenant_id' } as const

/** Adds the callback secret where it is asked for: it signs callbacks in the operator's name, so HTTP shows it by an operation of its own. */
function withSecret(command: Command, isAsked: (values: CommandValues) => boolean): Command {
  return {
    ...command,
    async run(context, values) {
      const output = await command.run(context, values)
      if (!isAsked(values)) {
        return output
      }
      const tenant = Object(output.json)
      const { webhookSecret } = await getTenant(await context.table(), tenant.id)
      const json = { ...tenant, webhook_secret: webhookSecret }
      return { json, text: linesOf(json) }
    },
  }
}

/** Creates a tenant, its callback secret and its first grant. */
export const tenantCreate: Command = withSecret(
  commandOf(TENANT_DOCUMENTS.createTenant, {
    name: 'tenant create',
    options: {
      name: { value: 'NAME', summary: 'name for people', required: true, read: readName },
      credits: {
        value: 'CREDITS',
        summary: 'first grant, such as 10.00; up to six decimal places',
        required: true,
        read: (text) => readAmount('credits', text),
      },
      'open-jobs': {
        ...OPEN_JOBS,
        summary: `maximum number of open video jobs, or \`none\`; default: ${OPEN_JOBS_DEFAULT}`,
      },
    },
    without: ['budget'],
    examples: [
      'tenant create --name Acme --credits 100.00 --stage prod',
      'tenant create --name Trial --credits 0 --json',
    ],
  }),
  () => true,
)

const tenant = commandOf(TENANT_DOCUMENTS.getTenant, {
  name: 'tenant show',
  details: 'During a rotation, `callback-secret show` shows both secrets.',
  options: { tenant: TENANT },
  examples: ['tenant show --tenant demo --local', 'tenant show --tenant demo --show-secret --json'],
  format: linesOf,
})

/** A tenant with its balance. @throws StoreRefusal `not_found`. */
export const tenantShow: Command = withSecret(
  { ...tenant, options: { ...tenant.options, 'show-secret': { summary: 'include the callback secret' } } },
  (values) => values.has('show-secret'),
)

/** Every tenant. */
export const tenantList: Command = commandOf(TENANT_DOCUMENTS.listTenants, {
  name: 'tenant list',
  examples: ['tenant list --local', 'tenant list --stage prod --json'],
  format({ tenants }) {
    const header = ['TENANT', 'NAME', 'STATE', 'AVAILABLE', 'HELD', 'SPENT', 'GRANTED', 'OPEN JOBS']
    const rows = tenants.map(cellsOf).map((cells) => LISTED.map((name) => cells[name]))
    return formatTable(header, rows)
  },
})

/** @throws StoreRefusal `not_found`. */
export const tenantLimit: Command = commandOf(TENANT_DOCUMENTS.changeTenant, {
  name: 'tenant limit',
  summary: 'limit the number of open video jobs of a tenant',
  details: 'The limit applies from the next create request on, which gets a 429 above it. Open jobs are not affected.',
  options: {
    tenant: TENANT,
    'open-jobs': { ...OPEN_JOBS, summary: 'maximum, from 0; `none` removes the limit', required: true },
  },
  without: ['name', 'budget', 'users'],
  examples: [
    'tenant limit --tenant demo --open-jobs 20 --local',
    'tenant limit --tenant demo --open-jobs none --local',
  ],
  format: linesOf,
})

/** @throws StoreRefusal `not_found`. */
export const tenantUsers: Command = commandOf(TENANT_DOCUMENTS.changeTenant, {
  name: 'tenant users',
  summary: 'count the users that requests of a tenant name, by `usage --by user`',
  details: `A request names its user by the header x-reelgate-user, by \`user\` in the body, or by \`metadata.user_id\` of messages. \`digest\` counts a
user under a digest with a salt of the tenant, \`given\` by the name itself, which may be personal data. At most 10,000 users a day are counted by
themselves, the others together. Holds within a minute.`,
  options: {
    tenant: TENANT,
    keep: {
      value: 'digest|given|off',
      summary: 'how users are counted',
      required: true,
      field: 'users',
      read: readKeeping,
    },
  },
  without: ['name', 'open_jobs_max', 'budget'],
  examples: ['tenant users --tenant demo --keep digest --local', 'tenant users --tenant demo --keep off --stage prod'],
  format: linesOf,
})

/** @throws UsageError for anything but a way to count users. */
function readKeeping(text: string): UserKeeping {
  const keeping = USER_KEEPINGS.find((known) => known === text)
  if (keeping === undefined) {
    throw new UsageError(`--keep ${text}: use ${USER_KEEPINGS.join(', ')}`)
  }
  return keeping
}

const ID = {
  value: 'ID',
  summary: 'makes the command safe to repeat: up to 64 letters, digits, and . : _ -',
  default: uuidv7,
} as const satisfies FieldOption

/** Adds credits to a tenant, once per id. @throws StoreRefusal `not_found`, `id_taken`. */
export const tenantGrant: Command = commandOf(TENANT_DOCUMENTS.grantCredits, {
  name: 'tenant grant',
  summary: 'add credits to a tenant; without --id, each run is a new grant',
  details: `With --id, such as an invoice number, the command can be repeated after a lost response: the grant is made once, and an id that
was used for another amount is refused.`,
  options: {
    tenant: TENANT,
    credits: {
      value: 'CREDITS',
      summary: 'credits, such as 5.00 or 0.25',
      required: true,
      read: (text) => readAmount('credits', text, parsePositiveCredits),
    },
    id: ID,
  },
  without: ['note'],
  examples: [
    'tenant grant --tenant demo --credits 5 --local',
    'tenant grant --tenant demo --credits 5 --id invoice-1042',
  ],
  format: linesOf,
})

const adjustment = commandOf(TENANT_DOCUMENTS.adjustCredits, {
  name: 'tenant adjust',
  details: `The ledger gets a row of kind \`adjust\` with the reason. With --id, the command can be repeated after a lost response. Credits that are
not available are not taken away, unless --allow-debt is given: the tenant then owes the rest, and can spend nothing until it is covered.`,
  options: {
    tenant: TENANT,
    amount: {
      value: 'CREDITS',
      summary: 'credits, such as -5.00 or 0.25',
      required: true,
      read: (text) => readAmount('amount', text, parseSignedCredits),
    },
    reason: { value: 'SENTENCE', summary: 'why, for the ledger and the audit log', required: true },
    id: ID,
    'allow-debt': { summary: 'the available balance may fall below zero', field: 'allow_debt' },
  },
  examples: [
    'tenant adjust --tenant demo --amount -5 --reason "granted twice" --local',
    'tenant adjust --tenant demo --amount 2.50 --reason "refund of job 0193f1c0" --id ticket-77 --stage prod',
  ],
  format: linesOf,
})

/** Corrects what was granted to a tenant, once per id. @throws StoreRefusal `not_found`, `below_zero`, `id_taken`. */
export const tenantAdjust: Command = {
  ...adjustment,
  async run(context, values) {
    try {
      return await adjustment.run(context, values)
    } catch (error) {
      throw isRefusal(error, 'below_zero')
        ? new StoreRefusal('below_zero', `${error.message}; --allow-debt permits this`, { cause: error })
        : error
    }
  },
}

/** @throws StoreRefusal `not_found`, `changed_meanwhile` if the tenant was resumed at the same time. */
export const tenantSuspend: Command = commandOf(TENANT_DOCUMENTS.suspendTenant, {
  name: 'tenant suspend',
  details: `Keys that are created during the suspension are refused too. \`tenant show\` says since when, by whom and why the tenant is suspended.
\`tenant resume\` ends the suspension.`,
  options: { tenant: TENANT, reason: { value: 'SENTENCE', summary: 'why, for `tenant show` and the audit log' } },
  examples: [
    'tenant suspend --tenant demo --local',
    'tenant suspend --tenant demo --reason "unpaid since October" --yes --json',
  ],
  async prepare({ tenant_id: tenantId }, { table, warn, confirm }) {
    const { name, state } = await getTenant(await table(), tenantId)
    if (state === 'suspended') {
      warn(`tenant ${tenantId} is suspended already: since when, by whom and why stay as they are`)
    }
    await confirm(`Every key of ${name} (${tenantId}) will be refused from the next request on`)
    return undefined
  },
  format: linesOf,
})

/** @throws StoreRefusal `not_found`, `changed_meanwhile` if the tenant was suspended at the same time. */
export const tenantResume: Command = commandOf(TENANT_DOCUMENTS.resumeTenant, {
  name: 'tenant resume',
  options: { tenant: TENANT },
  examples: ['tenant resume --tenant demo --local'],
  async prepare({ tenant_id: tenantId }, { table, warn }) {
    if ((await getTenant(await table(), tenantId)).state === 'active') {
      warn(`tenant ${tenantId} is not suspended: nothing was changed`)
    }
    return undefined
  },
  format: linesOf,
})

const budgetText = ({ id, budget }: ShownTenant) =>
  `tenant ${id}: ${budget === null ? 'no budget' : `budget ${budgetLine(budget)}`}`

const budgetCommand = (limit: BudgetLimit | null | undefined): Command => {
  const part = {
    name: 'tenant budget',
    summary: 'show or change what a tenant may spend in a day, in a month or in all',
    details: `Without a change, the command shows the budget. Spent and held credits together never exceed the budget, but for an overdraft or a lowered amount. A budget begins with what the
usage counters of its period say. To count again, after a restore for example, set the same budget again.`,
    options: { tenant: TENANT },
    examples: [
      'tenant budget --tenant demo --local',
      'tenant budget --tenant demo --amount 100 --period month --local',
      'tenant budget --tenant demo --clear --json',
    ],
    format: budgetText,
  }
  return limit === undefined
    ? commandOf(TENANT_DOCUMENTS.getTenant, part)
    : commandOf(TENANT_DOCUMENTS.changeTenant, {
        ...part,
        fixed: { budget: limit },
        without: ['name', 'open_jobs_max', 'users'],
      })
}

const budget = budgetCommand(undefined)

/** Shows, sets, changes or ends the budget of a tenant. @throws StoreRefusal `not_found`, `changed_meanwhile`. */
export const tenantBudget: Command = {
  ...budget,
  options: {
    ...budget.options,
    amount: { value: 'CREDITS', summary: 'what may be spent in a period, such as 100 or 0.25' },
    period: { value: 'day|month|total', summary: 'when the budget starts again, in UTC; `total`: never' },
    clear: { summary: 'end the budget' },
  },
  async run(context, values) {
    const isChange = ['amount', 'period', 'clear'].some((option) => values.has(option))
    return await budgetCommand(isChange ? readLimit(values) : undefined).run(context, values)
  },
}

/** The commands about tenants, in the order of the help. */
export const TENANT_COMMANDS: readonly Command[] = [
  ...[tenantCreate, tenantShow, tenantList, tenantGrant, tenantAdjust],
  ...[tenantSuspend, tenantResume, tenantLimit, tenantBudget, tenantUsers],
]
