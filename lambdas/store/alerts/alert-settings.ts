import * as z from 'zod/mini'
import { ALERT_THRESHOLDS } from '#core/budgets.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Actor, type AuditedFields, auditEntry } from '../audit/audit-entry.ts'
import { storedAmount } from '../table/attributes.ts'
import { allOf, type Change, change } from '../table/expressions.ts'
import { type Table, tryTransact } from '../table/table.ts'
import { BUDGETS_PARTITION, tableKeys } from '../table/table-keys.ts'
import { noTenant } from '../tenants/tenants.ts'

/** How a tenant is alerted. */
type AlertSettings = {
  /** Where the tenant gets its alerts; undefined if only the operators get them. */
  readonly url: string | undefined
  /** Percentages of every budget of the tenant. */
  readonly thresholds: readonly number[]
}

const settingsItem = z.object({ alertUrl: z.optional(z.string()), alertAt: z.optional(z.array(z.number())) })

/** Reads the settings of a tenant; those of a tenant that does not exist are the defaults. */
export async function readAlertSettings(table: Table, tenantId: string): Promise<AlertSettings> {
  return settingsOf(await table.readItem(tableKeys.tenant(tenantId)))
}

function settingsOf(tenant: unknown): AlertSettings {
  const { alertUrl: url, alertAt } = settingsItem.parse(tenant ?? {})
  return { url, thresholds: alertAt ?? ALERT_THRESHOLDS }
}

const watchedBalance = z.object({ lowBalance: z.optional(storedAmount) })

/** The amount below which a balance raises an alert; undefined without one. */
export function lowBalanceOf(balance: unknown): Microcredits | undefined {
  return watchedBalance.parse(balance).lowBalance
}

/** The settings of a tenant with its low mark. */
export type AlertView = AlertSettings & { readonly lowBalance: Microcredits | undefined }

/** The settings of a tenant with its low mark, as operators see them. */
export async function readAlertView(table: Table, tenantId: string): Promise<AlertView> {
  const [tenant, balance] = await Promise.all([
    table.readItem(tableKeys.tenant(tenantId)),
    table.readItem(tableKeys.balance(tenantId)),
  ])
  return alertViewOf(tenant, balance)
}

/** The same from the items of the tenant and of its balance. */
export function alertViewOf(tenant: unknown, balance: unknown): AlertView {
  return { ...settingsOf(tenant), lowBalance: lowBalanceOf(balance ?? {}) }
}

/** The settings to store; null clears one, undefined leaves it. */
export type AlertSettingsChange = {
  readonly url?: string | null | undefined
  readonly thresholds?: readonly number[] | null | undefined
  /** The balance below which an alert is sent, in microcredits. */
  readonly lowBalance?: Microcredits | null | undefined
}

type ChangeOfTenant = {
  readonly change: AlertSettingsChange
  readonly actor: Actor
  readonly nowMilliseconds?: number
}

/**
 * Changes the settings of a tenant and records who did so, in one transaction. What is so already is not written. A balance with a low mark
 * enters the index of watched items.
 * @throws StoreRefusal `not_found`
 */
export async function changeAlertSettings(
  table: Table,
  tenantId: string,
  { change: wished, actor, nowMilliseconds: at = systemClock.nowMilliseconds() }: ChangeOfTenant,
): Promise<void> {
  const before = await readAlertView(table, tenantId)
  const wanted = differing(wished, before)
  const settings = assign({ alertUrl: wanted.url, alertAt: wanted.thresholds })
  const balance = assign({
    lowBalance: wanted.lowBalance,
    ...(wanted.lowBalance == null ? {} : { GSI1PK: BUDGETS_PARTITION, GSI1SK: tenantId }),
  })
  const exists = ['attribute_exists(PK)']
  const key = tableKeys.tenant(tenantId)
  const isChanged = settings !== undefined || balance !== undefined
  const refusal = await tryTransact(table, {
    tenant:
      settings === undefined
        ? { ConditionCheck: { Key: key, ...allOf(exists) } }
        : { Update: change(key, settings, exists) },
    balance: balance && { Update: change(tableKeys.balance(tenantId), balance, exists) },
    audit: isChanged
      ? auditEntry({
          ...{ actor, action: 'tenant alerts', target: { kind: 'tenant', id: tenantId }, at },
          ...{ before: audited(valuesBefore(wanted, before)), after: audited(wanted) },
        })
      : undefined,
  })
  if (refusal !== undefined) {
    throw noTenant(tenantId)
  }
}

/** The part of a change that has an effect. */
function differing({ url, thresholds, lowBalance }: AlertSettingsChange, before: AlertView): AlertSettingsChange {
  return {
    url: (url ?? undefined) === before.url ? undefined : url,
    thresholds: (thresholds ?? ALERT_THRESHOLDS).join() === before.thresholds.join() ? undefined : thresholds,
    lowBalance: (lowBalance ?? undefined) === before.lowBalance ? undefined : lowBalance,
  }
}

/** The fields of a change as they were. */
function valuesBefore(wanted: AlertSettingsChange, { url, thresholds, lowBalance }: AlertView): AlertSettingsChange {
  return {
    url: wanted.url === undefined ? undefined : (url ?? null),
    thresholds: wanted.thresholds === undefined ? undefined : thresholds,
    lowBalance: wanted.lowBalance === undefined ? undefined : (lowBalance ?? null),
  }
}

/** What an audit entry may show: the path of a url can hold a secret. */
function audited({ url, thresholds, lowBalance }: AlertSettingsChange): AuditedFields {
  return {
    ...(url === undefined ? {} : { alertOrigin: url === null ? null : (URL.parse(url)?.origin ?? null) }),
    ...(thresholds === undefined ? {} : { thresholds: thresholds === null ? null : thresholds.map(String) }),
    ...(lowBalance === undefined ? {} : { lowBalance: lowBalance === null ? null : formatCredits(lowBalance) }),
  }
}

/** Sets attributes, and removes those that are null; undefined if nothing changes. */
function assign(attributes: Readonly<Record<string, unknown>>): Change | undefined {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined)
  const remove = present.filter(([, value]) => value === null).map(([name]) => name)
  const set = Object.fromEntries(present.filter(([, value]) => value !== null))
  return present.length === 0 ? undefined : { set, remove }
}
