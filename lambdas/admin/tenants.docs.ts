import * as z from 'zod'
import { amountField, isoTimeField, pageFields } from '#core/admin/read-responses.ts'
import { documentOperation } from './document.ts'
import { budget } from './keys.docs.ts'
import { getTenant, listTenants } from './tenants.ts'
import {
  adjustCredits,
  changeAlerts,
  changeTenant,
  createTenant,
  grantCredits,
  resumeTenant,
  suspendTenant,
} from './tenants.writes.ts'

/** A tenant, without its callback secret. */
const tenant = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: z.enum(['active', 'suspended']),
  available: amountField.describe('What new requests may reserve. Negative after an overdraft.'),
  held: amountField.describe('Reserved by open requests and jobs.'),
  spent: amountField.describe('Settled since the tenant was created.'),
  granted: amountField.describe('available + held + spent.'),
  open_jobs: z.int(),
  open_jobs_max: z.int().nullable().describe('Null for as many as the tenant can pay for.'),
  budget: budget.nullable(),
  created_at: isoTimeField,
  suspension: z
    .strictObject({ since: isoTimeField, by: z.string(), reason: z.string().nullable() })
    .optional()
    .describe('Left out for a tenant that is not suspended, and for API keys.'),
})

const alerts = {
  thresholds: z.array(z.number()).readonly().describe('Percentages of every budget of the tenant.'),
  low_balance: amountField.nullable().describe('The balance below which an alert is sent; null for none.'),
  url_host: z.string().nullable().describe('Where the tenant gets its alerts; null if only operators get them.'),
}

/** A tenant with how it is alerted. */
const tenantDetail = z.strictObject({
  ...tenant.shape,
  alerts: z.strictObject(alerts),
})

const posted = z.strictObject({
  ...tenant.shape,
  repeated: z.boolean().describe('True for an id that was used before for the same amount: nothing was moved.'),
})

const returns = 'The tenant.'

/** The operations of tenants, as people read about them. */
export const TENANT_DOCUMENTS = {
  listTenants: documentOperation(listTenants, {
    summary: 'list the tenants with their balances, states and open jobs',
    description: 'From the summary of the last minute.',
    returns: 'Tenants by id.',
    output: z.strictObject({ tenants: z.array(tenant), ...pageFields }),
  }),
  getTenant: documentOperation(getTenant, {
    summary: 'show a tenant: balance, state, open jobs and budget',
    returns,
    output: tenantDetail,
  }),
  createTenant: documentOperation(createTenant, {
    summary: 'create a tenant, its callback secret and its first grant',
    returns,
    output: tenant,
  }),
  changeTenant: documentOperation(changeTenant, {
    summary: 'change the name, the limit of open jobs or the budget of a tenant',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    returns,
    output: tenant,
  }),
  changeAlerts: documentOperation(changeAlerts, {
    summary: 'change where and when a tenant is alerted about its budgets and its balance',
    description: 'All of the changes or none. Fields that are left out stay as they are.',
    returns: 'How the tenant is alerted.',
    output: z.strictObject({ tenant: z.string(), ...alerts }),
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
    output: tenant,
  }),
  resumeTenant: documentOperation(resumeTenant, {
    summary: 'end a suspension: keys that are neither revoked nor expired work again',
    returns,
    output: tenant,
  }),
}

/** Parts of the responses that have names of their own in `admin-openapi.json`. */
export const TENANT_SCHEMAS = { Tenant: tenant, TenantDetail: tenantDetail, ChangedBalance: posted }
