import { ALERT_THRESHOLDS, budgetAt, crossedThresholds } from '#core/budgets.ts'
import { repeated, rule } from './rule.ts'
import type { Balance, Snapshot } from './snapshot.ts'

type Looks = { readonly before: Snapshot | undefined; readonly now: Snapshot }
type Known = { readonly alerted: readonly string[] }
type Alert = Snapshot['alerts'][number]

/** The rules of alerts: each is recorded once, with its mark, and received under the one id that it has. */
export function checkAlerts({ alerted }: Known, { before, now }: Looks): string[] {
  const known = new Set(now.alerts.map(({ id }) => id))
  const subjects = new Set(now.alerts.map(({ subject }) => subject))
  const told = new Set(alerted)
  return [
    ...[...subjects].flatMap((subject) =>
      repeatedThresholds(now.alerts.filter((alert) => alert.subject === subject)).map(
        (threshold) => `${subject} was alerted twice of ${threshold}`,
      ),
    ),
    ...alerted.flatMap((id) => rule(known.has(id), `the alert ${id} was sent, and there is none`)),
    ...now.alerts
      .filter(({ operators, tenant }) => operators === 'delivered' || tenant === 'delivered')
      .flatMap(({ id }) => rule(told.has(id), `the alert ${id} is said to be delivered`)),
    ...now.alerts.filter(({ id }) => isNew(id, before)).flatMap((alert) => checkMark(alert, now)),
  ]
}

/** Another kind of period is another budget, which is alerted afresh. */
function repeatedThresholds(alerts: readonly Alert[]): string[] {
  const found: string[] = []
  let kind: string | undefined
  let thresholds: string[] = []
  for (const alert of alerts.toSorted((left, right) => left.at - right.at)) {
    thresholds = alert.kind === kind ? thresholds : []
    kind = alert.kind
    thresholds.push(...alert.crossed.map((threshold) => `${threshold} % in ${alert.period}`))
    found.push(...repeated(thresholds))
  }
  return found
}

function isNew(id: string, before: Snapshot | undefined): boolean {
  return before !== undefined && !before.alerts.some((alert) => alert.id === id)
}

function checkMark({ subject, period, crossed }: Alert, { marks }: Snapshot): string[] {
  const mark = marks.get(subject)
  const isBalance = subject.endsWith(' balance')
  const isKept = isBalance
    ? mark?.isArmed === false
    : mark?.period === period && crossed.every((threshold) => mark.crossed.includes(threshold))
  return rule(isKept, `an alert of ${subject} was recorded without its mark`)
}

/** When nothing moves any more, Reconcile has found every budget and balance that calls for an alert, and has sent what it found. */
export function missingAlerts(now: Snapshot, nowMilliseconds: number): string[] {
  const budgets = [
    ...[...now.keyBudgets].map(([id, { tenantId, budget }]) => ({ subject: `${tenantId} key#${id}`, budget })),
    ...[...now.tenantBudgets].map(([tenantId, budget]) => ({ subject: `${tenantId} tenant`, budget })),
  ]
  return [
    ...budgets.flatMap(({ subject, budget }) => {
      const present = budgetAt(budget, nowMilliseconds)
      const mark = now.marks.get(subject)
      const isMarked = (threshold: number) => mark?.period === present.period.id && mark.crossed.includes(threshold)
      const missing = crossedThresholds(present, ALERT_THRESHOLDS).filter((threshold) => !isMarked(threshold))
      return missing.map((threshold) => `nobody was alerted that ${subject} reached ${threshold} %`)
    }),
    ...now.balances
      .filter(([tenantId, balance]) => isLow(balance) && now.marks.get(`${tenantId} balance`)?.isArmed !== false)
      .map(([tenantId]) => `nobody was alerted that the balance of ${tenantId} is low`),
    ...now.alerts
      .filter(({ operators, tenant }) => operators === 'due' || tenant === 'due')
      .map(({ id }) => `the alert ${id} is still to be sent`),
  ]
}

function isLow({ available, lowBalance }: Balance): boolean {
  return lowBalance !== undefined && available < lowBalance
}
