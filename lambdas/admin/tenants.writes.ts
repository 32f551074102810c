import * as z from 'zod/mini'
import { changeObject, requestObject } from '#core/admin/parse-request.ts'
import {
  amountField,
  budgetField,
  nameField,
  newTenantIdField,
  reasonField,
  rowIdField,
} from '#core/admin/request-fields.ts'
import { ALERT_THRESHOLD_PERCENT, ALERT_THRESHOLDS, ALERT_THRESHOLDS_MAX } from '#core/budgets.ts'
import { InvalidRequestError } from '#core/errors.ts'
import { checkCallbackUrl } from '#core/jobs/callback.ts'
import { OPEN_JOBS_DEFAULT } from '#core/limits.ts'
import { parseCredits, parsePositiveCredits, parseSignedCredits, ZERO } from '#core/money.ts'
import { USER_KEEPINGS } from '#core/named-users.ts'
import { changeAlertSettings, readAlertView } from '#store/alerts/alert-settings.ts'
import { StoreRefusal } from '#store/store-refusal.ts'
import { getTenant, listTenantNames, type Tenant } from '#store/tenants/tenants.ts'
import { defineOperation, type OperationContext } from './operation.ts'
import { alertsJson, tenantJson } from './tenants.ts'

type TenantContext = OperationContext<'POST'>

/** The tenant after a change. */
async function changedTenant(tenantId: string, { table, nowMilliseconds }: TenantContext) {
  return tenantJson(await getTenant(table, tenantId), nowMilliseconds())
}

/** Loaded when they are first asked for, like everything that few instances do. */
const openLifecycle = () => import('#store/tenants/tenant-lifecycle.ts')
const openCredits = () => import('#store/tenants/credits.ts')

const OPEN_JOBS_ALLOWED = 'use a whole number from 0 to 1000000, or null for no limit'

/** What a tenant may do, as requests for new and existing tenants name it. */
function tenantFields() {
  return {
    name: nameField(),
    open_jobs_max: z
      .nullable(
        z.int(OPEN_JOBS_ALLOWED).check(z.minimum(0, OPEN_JOBS_ALLOWED), z.maximum(1_000_000, OPEN_JOBS_ALLOWED)),
      )
      .check(z.describe('Video jobs that may be open at a time; null for no limit.')),
    budget: z.nullable(budgetField()).check(z.describe('Null for no budget.')),
  }
}

/** The callback secret is shown on request alone. */
export const createTenant = defineOperation({
  name: 'create-tenant',
  method: 'POST',
  path: '/admin/v1/tenants',
  access: 'owner',
  status: 201,
  conflicts: ['id_taken', 'name_taken'],
  audit: 'tenant create',
  body() {
    const { name, open_jobs_max, budget } = tenantFields()
    return requestObject({
      name,
      id: z.optional(newTenantIdField()),
      allow_duplicate_name: z
        .optional(z.boolean())
        .check(z.describe('Take a name that another tenant has: commands then find both by their ids only.')),
      credits: z.optional(amountField(parseCredits, 'The first grant. Default: nothing.')),
      open_jobs_max: z._default(open_jobs_max, OPEN_JOBS_DEFAULT),
      budget: z._default(budget, null),
    })
  },
  async run(input, { table, actor, nowMilliseconds }) {
    const {
      name,
      id,
      allow_duplicate_name: isShared = false,
      credits = ZERO,
      open_jobs_max: openJobsMax,
      budget,
    } = input
    const others = (await listTenantNames(table)).filter((other) => other.id !== id)
    // An id counts before a name, so a name that is an id, or an id that is a name, finds nobody either.
    const namesake = isShared
      ? undefined
      : others.find((other) => other.name === name || other.id === name || other.name === id)
    if (namesake !== undefined) {
      const advice = 'use another name, or allow a duplicate name (`--allow-duplicate-name`, `allow_duplicate_name`)'
      throw new StoreRefusal('name_taken', `the name ${name} is taken by tenant ${namesake.id}: ${advice}`)
    }
    const wish = { name, credits, openJobsMax, budgetLimit: budget, ...(id === undefined ? {} : { id }) }
    const { makeTenantOnce } = await openLifecycle()
    const { tenant, isNew } = await makeTenantOnce(table, wish, actor)
    const json = tenantJson(tenant, nowMilliseconds())
    return isNew ? json : { ...json, repeated: true }
  },
})

/** All of the changes or none. Fields that are left out stay as they are. */
export const changeTenant = defineOperation({
  name: 'change-tenant',
  method: 'PATCH',
  path: '/admin/v1/tenants/{tenant_id}',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  audit: 'tenant set',
  body() {
    const { name, open_jobs_max, budget } = tenantFields()
    return changeObject({
      name: z.optional(name),
      open_jobs_max: z.optional(open_jobs_max),
      budget: z.optional(budget),
      users: z
        .optional(z.enum(USER_KEEPINGS))
        .check(z.describe('Counts the users that requests name: under a digest, as they are given, or not at all.')),
    })
  },
  async run({ tenant_id: tenantId, name, open_jobs_max: openJobsMax, budget, users }, context) {
    const { table, actor, warn } = context
    // Loaded when it is first asked for: nothing else needs it.
    const { changeTenant: change } = await import('#store/tenants/change-tenant.ts')
    const { isChanged, isExact } = await change(table, {
      tenantId,
      settings: { name, openJobsMax, budget, users },
      actor,
    })
    if (budget !== undefined && !isChanged) {
      warn(`tenant ${tenantId} has ${budget === null ? 'no' : 'this'} budget already: nothing was changed`)
    }
    if (!isExact) {
      warn('requests were settled meanwhile: the starting amount may be slightly high')
    }
    return await changedTenant(tenantId, context)
  },
})

const PERCENT = ALERT_THRESHOLD_PERCENT
const PERCENT_ALLOWED = `use whole percentages from ${PERCENT.min} to ${PERCENT.max}`
const THRESHOLDS_ALLOWED = `use 1 to ${ALERT_THRESHOLDS_MAX} percentages, or null for the default`
const ALERT_URL_ALLOWED = 'use a url, or null for none'

/** Where and when a tenant is alerted. Fields that are left out stay as they are. */
export const changeAlerts = defineOperation({
  name: 'change-alerts',
  method: 'PATCH',
  path: '/admin/v1/tenants/{tenant_id}/alerts',
  access: 'tenant-admin',
  audit: 'tenant alerts',
  body: () =>
    changeObject({
      thresholds: z
        .optional(
          z.nullable(
            z
              .array(
                z
                  .int(PERCENT_ALLOWED)
                  .check(z.minimum(PERCENT.min, PERCENT_ALLOWED), z.maximum(PERCENT.max, PERCENT_ALLOWED)),
                THRESHOLDS_ALLOWED,
              )
              .check(z.minLength(1, THRESHOLDS_ALLOWED), z.maxLength(ALERT_THRESHOLDS_MAX, THRESHOLDS_ALLOWED)),
          ),
        )
        .check(z.describe(`Percentages of every budget of the tenant; null for ${ALERT_THRESHOLDS.join(', ')}.`)),
      low_balance: z
        .optional(z.nullable(amountField(parseCredits, 'Credits, as a decimal string.')))
        .check(
          z.describe('An alert is sent when the balance, held credits included, falls below this; null for none.'),
        ),
      url: z
        .optional(z.nullable(z.string(ALERT_URL_ALLOWED)))
        .check(z.describe('Where the tenant gets its alerts, on the `callback_allowlist`; null for none.')),
    }),
  async run(
    { tenant_id: tenantId, thresholds, low_balance: lowBalance, url },
    { table, actor, config, nowMilliseconds },
  ) {
    const check = url == null ? undefined : checkCallbackUrl(url, (await config()).callback_allowlist)
    if (check?.allowed === false) {
      throw new InvalidRequestError([{ path: 'url', message: check.reason }])
    }
    const sorted = thresholds?.toSorted((left, right) => left - right)
    const change = { thresholds: sorted === undefined ? thresholds : [...new Set(sorted)], lowBalance, url }
    await changeAlertSettings(table, tenantId, { change, actor, nowMilliseconds: nowMilliseconds() })
    return { tenant: tenantId, ...alertsJson(await readAlertView(table, tenantId)) }
  },
})

type Posted = { readonly tenant: Tenant; readonly isNew: boolean }

function postedJson({ tenant, isNew }: Posted, { nowMilliseconds }: TenantContext) {
  return { ...tenantJson(tenant, nowMilliseconds()), repeated: !isNew }
}

/** Adds credits, once for each id. */
export const grantCredits = defineOperation({
  name: 'grant-credits',
  method: 'POST',
  path: '/admin/v1/tenants/{tenant_id}/grants',
  access: 'owner',
  conflicts: ['id_taken'],
  audit: 'tenant grant',
  body: () =>
    requestObject({
      credits: amountField(parsePositiveCredits, 'Credits above zero, as a decimal string.'),
      id: rowIdField(),
      note: z.optional(reasonField()),
    }),
  async run({ tenant_id: tenantId, credits, id, note: reason }, context) {
    const { table, actor, warn } = context
    const { grantTenant } = await openCredits()
    const posted = await grantTenant(table, tenantId, { id, credits, reason, actor })
    if (!posted.isNew) {
      warn(`grant ${id} already exists: nothing was added`)
    }
    return postedJson(posted, context)
  },
})

/** Moves what is available and what was granted alike, once for each id. */
export const adjustCredits = defineOperation({
  name: 'adjust-credits',
  method: 'POST',
  path: '/admin/v1/tenants/{tenant_id}/adjustments',
  access: 'owner',
  conflicts: ['id_taken', 'below_zero'],
  audit: 'tenant adjust',
  body: () =>
    requestObject({
      amount: amountField(
        parseSignedCredits,
        'Credits with a sign, other than zero, as a decimal string such as `"-5"`.',
      ),
      reason: reasonField(),
      id: rowIdField(),
      allow_debt: z
        ._default(z.boolean('use true or false'), false)
        .check(z.describe('Whether the available balance may fall below zero; otherwise that is a 409.')),
    }),
  async run({ tenant_id: tenantId, amount, reason, id, allow_debt: isDebtAllowed }, context) {
    const { table, actor, warn } = context
    const { adjustTenant } = await openCredits()
    const posted = await adjustTenant(table, tenantId, { id, amount, reason, isDebtAllowed, actor })
    if (!posted.isNew) {
      warn(`adjustment ${id} already exists: nothing was changed`)
    }
    return postedJson(posted, context)
  },
})

/** Every key is refused from its next request on. A tenant that is suspended already stays as it is. */
export const suspendTenant = defineOperation({
  name: 'suspend-tenant',
  method: 'POST',
  path: '/admin/v1/tenants/{tenant_id}/suspension',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  audit: 'tenant suspend',
  body: () => requestObject({ reason: z.optional(reasonField()) }),
  async run({ tenant_id: tenantId, reason }, context) {
    const { suspendTenant: suspend } = await openLifecycle()
    await suspend(context.table, tenantId, { actor: context.actor, reason })
    return await changedTenant(tenantId, context)
  },
})

/** Keys that are neither revoked nor expired work again. */
export const resumeTenant = defineOperation({
  name: 'resume-tenant',
  method: 'DELETE',
  path: '/admin/v1/tenants/{tenant_id}/suspension',
  access: 'owner',
  conflicts: ['changed_meanwhile'],
  audit: 'tenant resume',
  async run({ tenant_id: tenantId }, context) {
    const { resumeTenant: resume } = await openLifecycle()
    await resume(context.table, tenantId, { actor: context.actor })
    return await changedTenant(tenantId, context)
  },
})

/** The operations of tenants that write. */
export const TENANT_WRITES = [
  ...[createTenant, changeTenant, changeAlerts, grantCredits],
  ...[adjustCredits, suspendTenant, resumeTenant],
] as const
