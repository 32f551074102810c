import { type Alert, type DeliveryState, latestAlerts } from '#adapters/store/alerts/alert.ts'
import { formatTable } from '../command-line/answer.ts'
import type { Command } from '../command-line/command.ts'
import { findTenant, TENANT } from '../tenants/read-tenant.ts'

const LIMIT_DEFAULT = 20

/** Shows the latest alerts of a tenant. @throws StoreRefusal `not_found`. */
export const alertList: Command = {
  name: 'alert list',
  summary: 'show the latest alerts of a tenant and whether they were delivered',
  options: {
    tenant: TENANT,
    limit: { value: 'N', summary: `maximum number of alerts; default: ${LIMIT_DEFAULT}` },
  },
  examples: ['alert list --tenant demo --local', 'alert list --tenant demo --limit 5 --stage prod --json'],
  async run(context, values) {
    const table = await context.table()
    const { id } = await findTenant(table, values.required('tenant'))
    const alerts = await latestAlerts(table, id, values.count('limit') ?? LIMIT_DEFAULT)
    const rows = alerts.map((alert) => [
      new Date(alert.at).toISOString(),
      alert.type,
      describeAlert(alert),
      shownState(alert.operators),
      shownState(alert.tenant),
      alert.id,
    ])
    return {
      json: { alerts: alerts.map(toJson) },
      text: formatTable(['AT', 'TYPE', 'ABOUT', 'OPERATORS', 'TENANT', 'ID'], rows),
    }
  },
}

/** Null where there is no topic, or no url. */
function shownState(state: DeliveryState): string | null {
  return state === 'unwanted' ? null : state
}

function toJson({ at, tenantId: _, ...alert }: Alert) {
  return { at: new Date(at).toISOString(), ...alert }
}

function describeAlert({ type, data }: Alert): string {
  const { available, threshold, key, spent, amount, period } = data
  return type === 'balance.low'
    ? `${String(available)} available, below ${String(threshold)}`
    : `${String(threshold)} % of the ${key === null ? 'tenant' : `key ${String(key)}`}: ${String(spent)} of ${String(amount)} (${String(period)})`
}
