import { type NearBudget, nearBudget } from '#core/admin/summary.ts'
import { type Budget, budgetAt, crossedThresholds, periodEnd } from '#core/budgets.ts'
import { formatCredits } from '#core/money.ts'
import { signCallback } from '#platform/callback-signature.ts'
import { asError, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { readAlertSettings } from '#store/alerts/alert-settings.ts'
import {
  type Alert,
  type AlertMark,
  type ClaimedAlert,
  claimAlert,
  type DeliveryState,
  dueAlerts,
  type MarkKey,
  moveAlertMark,
  readAlertMark,
  recordDelivery,
  type WatchedItem,
  watchedItems,
} from '#store/alerts/alerts.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { sendCallback } from '#upstream/send-callback.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'

type Context = Pick<StepContext, 'table' | 'nowMilliseconds'>

/**
 * Records an alert for every budget whose spending has reached a threshold for the first time in its period, and for every
 * balance that has fallen below its low mark. One alert tells of all thresholds that one run finds. Runs may overlap: a mark beside
 * each budget lets one of them record.
 * @param hasTime no new item is examined when false; the next run examines all again.
 * @returns the budgets of keys that are nearly spent; undefined if not all items were examined.
 */
export async function findAlerts(context: Context, hasTime: () => boolean): Promise<readonly NearBudget[] | undefined> {
  const near: NearBudget[] = []
  for await (const items of watchedItems(context.table)) {
    for (const item of items) {
      if (!hasTime()) {
        return undefined
      }
      try {
        if (item.of === 'unreadable') {
          throw item.error
        }
        if (item.of === 'key') {
          const found = nearBudget(item, context.nowMilliseconds())
          near.push(...(found === undefined ? [] : [found]))
        }
        await examine(item, context)
      } catch (error) {
        logger.error('alerts not examined', { tenantId: item.tenantId, error: asError(error) })
        count('reconcile_failed')
      }
    }
  }
  return near
}

async function examine(item: WatchedItem, context: Context): Promise<void> {
  if (item.of === 'key') {
    const key: MarkKey = { tenantId: item.tenantId, subject: `key#${item.budgetId}` }
    return await examineBudget(key, { budget: item.budget, key: item.budgetId }, context)
  }
  const { tenantId, budget } = item
  if (budget !== undefined) {
    await examineBudget({ tenantId, subject: 'tenant' }, { budget, key: null }, context)
  }
  await examineBalance(item, context)
}

/**
 * What was spent in the last moments of a period is seen after its end, as long as no request has begun the next period: Reconcile
 * finds a crossing within two minutes.
 */
const LATE_LOOK_MILLISECONDS = 2 * 60 * 1000

type WatchedBudget = { readonly budget: Budget; readonly key: string | null }

async function examineBudget(key: MarkKey, { budget: stored, key: keyId }: WatchedBudget, context: Context) {
  const at = context.nowMilliseconds()
  const budget = budgetAt(stored, at - LATE_LOOK_MILLISECONDS)
  if (budget.spent === 0n) {
    return
  }
  const { tenantId } = key
  const { thresholds } = await readAlertSettings(context.table, tenantId)
  const crossed = crossedThresholds(budget, thresholds)
  const highest = crossed.at(-1)
  if (highest === undefined) {
    return
  }
  const mark = await readAlertMark(context.table, key)
  if (isOfLaterPeriod(mark, budget)) {
    return
  }
  const before = mark.period === budget.period.id ? mark.crossed : []
  const found = crossed.filter((threshold) => !before.includes(threshold))
  if (found.length === 0) {
    return
  }
  const data = {
    tenant: tenantId,
    budget_of: keyId === null ? 'tenant' : 'key',
    key: keyId,
    period: budget.period.kind,
    period_id: budget.period.id,
    resets_at: periodEnd(budget.period),
    amount: formatCredits(budget.amount),
    spent: formatCredits(budget.spent),
    threshold: Math.max(...found),
    crossed: found,
  }
  const to = { period: budget.period.id, crossed: [...before, ...found], isArmed: true }
  const alert = { tenantId, type: 'budget.threshold', at, data } as const
  if (await moveAlertMark(context.table, { key, from: mark, to, alert, kind: budget.period.kind })) {
    report('budget.threshold', tenantId)
  }
}

/** Whether a run that overlaps this one has seen the next period: this run would move the mark back. Ids of one kind have one length. */
function isOfLaterPeriod({ period = '' }: AlertMark, { period: { id } }: Budget): boolean {
  return period.length === id.length && period > id
}

/** Held credits count as well: otherwise each large reservation would fall below the mark and arm it again a moment later. */
async function examineBalance(
  { tenantId, available, held, lowBalance }: WatchedItem & { readonly of: 'tenant' },
  context: Context,
): Promise<void> {
  if (lowBalance === undefined) {
    return
  }
  const key: MarkKey = { tenantId, subject: 'balance' }
  const mark = await readAlertMark(context.table, key)
  const isLow = available + held < lowBalance
  if (isLow !== mark.isArmed) {
    return
  }
  const to: Omit<AlertMark, 'version'> = { period: undefined, crossed: [], isArmed: !isLow }
  const data = { tenant: tenantId, available: formatCredits(available), threshold: formatCredits(lowBalance) }
  const alert = isLow ? ({ tenantId, type: 'balance.low', at: context.nowMilliseconds(), data } as const) : undefined
  const isMoved = await moveAlertMark(context.table, { key, from: mark, to, ...(alert === undefined ? {} : { alert }) })
  if (isMoved && isLow) {
    report('balance.low', tenantId)
  }
}

function report(type: string, tenantId: string): void {
  logger.warn('alert raised', { type, tenantId })
  count('alert_raised', { reason: type })
}

type DeliveryContext = Pick<StepContext, 'table' | 'catalogue' | 'nowMilliseconds' | 'network'> & {
  /** Undefined where the stage has no topic. */
  readonly publishToOperators?: PublishToOperators | undefined
}

/** Longer than a try, which ends after 15 s, so that overlapping runs never try an alert at the same time. */
const CLAIM_MILLISECONDS = 50_000

/**
 * Pauses after the first and the second failure; the third is the last. Shorter than one and five minutes by more than a try, so that the run
 * one and five minutes after the run of the failure finds the alert due.
 */
const PAUSES_MILLISECONDS = [40_000, 280_000] as const

/** Deliveries at a time. */
const PARALLEL_DELIVERIES = 8

/**
 * Delivers the alerts that are due, to the operators' topic and to the url of the tenant. Both get the same `webhook-id`, which
 * never changes, so a receiver can drop repeats: after a crash between a delivery and its record, the alert is delivered again.
 */
export async function deliverAlerts(context: DeliveryContext, hasTime: () => boolean): Promise<void> {
  const due = dueAlerts(context.table, context.nowMilliseconds())
  const worker = async () => {
    for (let next = await due.next(); !next.done && hasTime(); next = await due.next()) {
      try {
        const alert = await claimAlert(context.table, next.value, context.nowMilliseconds() + CLAIM_MILLISECONDS)
        if (alert !== undefined) {
          await deliver(alert, context)
        }
      } catch (error) {
        logger.error('alert not delivered', { error: asError(error) })
        count('reconcile_failed')
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_DELIVERIES }, worker))
}

async function deliver(alert: ClaimedAlert, context: DeliveryContext): Promise<void> {
  const [operators, tenant] = await Promise.all([
    alert.operators === 'due' ? publish(alert, context) : alert.operators,
    alert.tenant === 'due' ? trySend(alert, context) : alert.tenant,
  ])
  const isDone = operators !== 'due' && tenant !== 'due'
  const tries = isDone ? alert.tries : alert.tries + 1
  const pause = PAUSES_MILLISECONDS[tries - 1]
  if (isDone || pause !== undefined) {
    const retryAt = isDone ? undefined : context.nowMilliseconds() + (pause ?? 0)
    await recordDelivery(context.table, alert, { operators, tenant, tries, retryAt })
    return
  }
  const ended = givenUp({ operators, tenant })
  await recordDelivery(context.table, alert, { ...ended, tries, retryAt: undefined })
  const { tenantId, id: alertId, type } = alert
  logger.error('alert undelivered', { tenantId, alertId, type, ...ended })
  count('alert_undelivered', { reason: alert.type })
}

/** The states after the last try. */
function givenUp({ operators, tenant }: Pick<Alert, 'operators' | 'tenant'>): Pick<Alert, 'operators' | 'tenant'> {
  const ended = (state: DeliveryState) => (state === 'due' ? 'failed' : state)
  return { operators: ended(operators), tenant: ended(tenant) }
}

/** The body that both receivers get. */
function alertBody({ type, at, data }: Alert): string {
  return JSON.stringify({ type, timestamp: Math.trunc(at / 1000), data })
}

async function publish(alert: Alert, { publishToOperators }: DeliveryContext): Promise<DeliveryState> {
  if (publishToOperators === undefined) {
    return 'unwanted'
  }
  try {
    await publishToOperators({ id: alert.id, subject: subjectOf(alert), body: alertBody(alert) })
    logger.info('alert published', { tenantId: alert.tenantId, alertId: alert.id })
    return 'delivered'
  } catch (error) {
    logger.warn('alert not published', { alertId: alert.id, error: asError(error) })
    return 'due'
  }
}

function subjectOf({ type, tenantId, data }: Alert): string {
  return type === 'balance.low'
    ? `Reelgate: balance of ${tenantId} is ${String(data.available)}`
    : `Reelgate: ${String(data.threshold)} % of a budget of ${tenantId} is spent`
}

/** A try that fails counts as one, whatever the reason: otherwise the operators would get the alert again with every run. */
async function trySend(alert: Alert, context: DeliveryContext): Promise<DeliveryState> {
  try {
    return await send(alert, context)
  } catch (error) {
    logger.warn('alert not sent', { alertId: alert.id, error: asError(error) })
    return 'due'
  }
}

async function send(alert: Alert, context: DeliveryContext): Promise<DeliveryState> {
  const { tenantId, id } = alert
  const { url } = await readAlertSettings(context.table, tenantId)
  if (url === undefined) {
    return 'unwanted'
  }
  const nowMilliseconds = context.nowMilliseconds()
  const { current, previous } = await readWebhookSecrets(context.table, tenantId, { nowMilliseconds })
  const secrets = previous === undefined ? [current] : [current, previous.secret]
  const body = alertBody(alert)
  const delivery = await sendCallback({
    url,
    allowlist: context.catalogue.config.callback_allowlist,
    body,
    headers: signCallback({ secrets, id, timestampSeconds: nowSeconds(context), body }),
    ...context.network,
  })
  logger.info(`alert ${delivery.outcome}`, { tenantId, alertId: id, ...delivery })
  return delivery.outcome === 'delivered' ? 'delivered' : 'due'
}

/** A message to the operators: a subject for people, a body for programs, and an id by which repeats are recognised. */
export type OperatorMessage = { readonly id: string; readonly subject: string; readonly body: string }

/** Publishes to the operators. @throws when the topic does not take the message. */
export type PublishToOperators = (message: OperatorMessage) => Promise<void>

/** SNS takes up to 100 ASCII characters without line breaks. */
const SUBJECT_CHARACTERS_MAX = 100

/**
 * The operators' topic of the stage (`ALERT_TOPIC_ARN`); undefined where a stage has no topic, as on the local host. The client is
 * loaded with the first message, because most runs publish nothing.
 */
export function openOperatorTopic(topicArn = process.env.ALERT_TOPIC_ARN): PublishToOperators | undefined {
  if (topicArn === undefined || topicArn === '') {
    return undefined
  }
  return async ({ id, subject, body }) => {
    const { PublishCommand, SNSClient } = await import('@aws-sdk/client-sns')
    const Subject = subject.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, SUBJECT_CHARACTERS_MAX)
    const MessageAttributes = { 'webhook-id': { DataType: 'String', StringValue: id } }
    await new SNSClient({}).send(new PublishCommand({ TopicArn: topicArn, Subject, Message: body, MessageAttributes }))
  }
}
