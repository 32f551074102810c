import { ALERT_THRESHOLD_PERCENT, ALERT_THRESHOLDS, ALERT_THRESHOLDS_MAX } from '#core/budgets.ts'
import { checkCallbackUrl } from '#core/jobs/callback.ts'
import { formatCredits, type Microcredits } from '#core/money.ts'
import { type AlertSettingsChange, changeAlertSettings, readAlertView } from '#store/alerts/alert-settings.ts'
import { type Alert, type DeliveryState, latestAlerts } from '#store/alerts/alerts.ts'
import type { Table } from '#store/table/table.ts'
import { formatTable, type Output } from '../output.ts'
import { UsageError } from '../terminal.ts'
import type { AdminContext, Command, CommandValues } from './command.ts'
import { readDeployedConfig } from './deployed-config.ts'
import { findTenant, readAmount, TENANT } from './read-options.ts'

/** Shows or changes how a tenant is alerted. @throws StoreRefusal `not_found`. */
export const tenantAlerts: Command = {
  name: 'tenant alerts',
  summary: 'show or change where and when a tenant is alerted about its budgets and its balance',
  details: `Without a change, the command shows the settings. Operators get every alert of a stage that has alarms, by their topic; the tenant gets
it at --url, signed with its callback secret. The url has to match \`callback_allowlist\` when an alert is sent.`,
  options: {
    tenant: TENANT,
    url: { value: 'URL|none', summary: 'where the tenant gets its alerts' },
    thresholds: {
      value: 'PERCENT,...|default',
      summary: `percentages of every budget of the tenant; default: ${ALERT_THRESHOLDS.join(',')}`,
    },
    'low-balance': {
      value: 'CREDITS|none',
      summary: 'alert when the balance, held credits included, falls below this',
    },
  },
  examples: [
    'tenant alerts --tenant demo --local',
    'tenant alerts --tenant demo --url https://hooks.example.com/spend --low-balance 5 --local',
    'tenant alerts --tenant demo --thresholds 75,90,100 --stage prod',
  ],
  async run(context, values) {
    const table = await context.table()
    const { id } = await findTenant(table, values.required('tenant'))
    const change = readChange(values)
    if (Object.values(change).some((value) => value !== undefined)) {
      await changeAlertSettings(table, id, { change, actor: await context.actor() })
      await warnOfUrl(context, change.url)
    }
    return await showSettings(table, id)
  },
}

/** The next deployment may allow the url, so it is not an error. No warning if the configuration cannot be read. */
async function warnOfUrl(context: AdminContext, url: string | null | undefined): Promise<void> {
  const config = url == null ? undefined : await readDeployedConfig(context).catch(() => undefined)
  if (url != null && config !== undefined && !checkCallbackUrl(url, config.callback_allowlist).allowed) {
    context.warn(
      'the url is set, but `callback_allowlist` of the running configuration does not allow it: no alert is sent to it until a configuration does',
    )
  }
}

async function showSettings(table: Table, id: string): Promise<Output> {
  const { url, thresholds, lowBalance } = await readAlertView(table, id)
  const shown = {
    tenant: id,
    url: url ?? null,
    thresholds,
    low_balance: lowBalance === undefined ? null : formatCredits(lowBalance),
  }
  const text = [
    ['url of the tenant', shown.url ?? 'none'],
    ['thresholds', thresholds.map((percent) => `${percent} %`).join(', ')],
    ['low balance', shown.low_balance ?? 'no alert'],
  ]
  return { json: shown, text: formatTable(['SETTING', 'VALUE'], text) }
}

function readChange(values: CommandValues): AlertSettingsChange {
  return {
    url: readUrl(values.text('url')),
    thresholds: readThresholds(values.text('thresholds')),
    lowBalance: readLowBalance(values.text('low-balance')),
  }
}

/** The allowlist is the stage's, so only the form of the url can be checked here. */
function readUrl(text: string | undefined): string | null | undefined {
  if (text === undefined || text === 'none') {
    return text === undefined ? undefined : null
  }
  const { protocol, origin, hostname } = URL.parse(text) ?? {}
  const isWebUrl = protocol === 'https:' || protocol === 'http:'
  const check = isWebUrl
    ? checkCallbackUrl(text, [protocol === 'http:' ? String(origin) : String(hostname)])
    : undefined
  if (check === undefined || !check.allowed) {
    throw new UsageError(`--url: ${check?.allowed === false ? check.reason : 'use an https url, or none'}`)
  }
  return text
}

function readThresholds(text: string | undefined): readonly number[] | null | undefined {
  if (text === undefined || text === 'default') {
    return text === undefined ? undefined : null
  }
  const { min, max } = ALERT_THRESHOLD_PERCENT
  const percents = [
    ...new Set(text.split(',').map((each) => (/^\d{1,3}$/.test(each.trim()) ? Number(each) : Number.NaN))),
  ]
  if (percents.length > ALERT_THRESHOLDS_MAX || percents.some((percent) => !(percent >= min && percent <= max))) {
    throw new UsageError(
      `--thresholds ${text}: use up to ${ALERT_THRESHOLDS_MAX} whole percentages from ${min} to ${max}, such as 50,80,100`,
    )
  }
  return percents.toSorted((left, right) => left - right)
}

function readLowBalance(text: string | undefined): Microcredits | null | undefined {
  if (text === undefined || text === 'none') {
    return text === undefined ? undefined : null
  }
  return readAmount('low-balance', text)
}

const LIMIT_DEFAULT = 20

/** Shows the latest alerts of a tenant. @throws StoreRefusal `not_found`. */
export const alertList: Command = {
  name: 'alert list',
  summary: 'show the latest alerts of a tenant and whether they were delivered',
  details: `OPERATORS and TENANT say how far each delivery is: \`due\`, \`delivered\`, \`failed\`, or \`-\` for a receiver that does not exist. Why a try failed
is in the log, in the line \`alert failed\` with the id of the alert.`,
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
  const { available, threshold, crossed, key, spent, amount, period } = data
  return type === 'balance.low'
    ? `${String(available)} available, below ${String(threshold)}`
    : `${[crossed].flat().join(', ')} % of the ${key === null ? 'tenant' : `key ${String(key)}`}: ${String(spent)} of ${String(amount)} (${String(period)})`
}
