import type { PublishToOperators } from '#lambdas/pipeline/reconcile/operator-topic.ts'
import { signCallback } from '#platform/callback-signature.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { readAlertSettings } from '#store/alerts/alert-settings.ts'
import { type Alert, claimAlert, type DeliveryState, dueAlerts, recordDelivery } from '#store/alerts/alerts.ts'
import { readWebhookSecrets } from '#store/tenants/webhook-secrets.ts'
import { sendCallback } from '#upstream/send-callback.ts'
import { nowSeconds, type StepContext } from '../step-context.ts'

type Context = Pick<StepContext, 'table' | 'catalogue' | 'nowMilliseconds' | 'network'> & {
  /** Undefined where the stage has no topic. */
  readonly publishToOperators?: PublishToOperators | undefined
}

/** Longer than a try, which ends after 15 s, so that overlapping runs never try an alert at the same time. */
const CLAIM_MILLISECONDS = 50_000

/** Pauses after the first and the second failure; the third is the last. */
const PAUSES_MILLISECONDS = [60_000, 300_000] as const

/** Deliveries at a time. */
const PARALLEL_DELIVERIES = 8

/**
 * Delivers the alerts that are due, to the operators' topic and to the url of the tenant. Both get the same `webhook-id`, which
 * never changes, so a receiver can drop repeats: after a crash between a delivery and its record, the alert is delivered again.
 */
export async function deliverAlerts(context: Context, hasTime: () => boolean): Promise<void> {
  const due = dueAlerts(context.table, context.nowMilliseconds())
  const worker = async () => {
    for (let next = await due.next(); !next.done && hasTime(); next = await due.next()) {
      try {
        const alert = await claimAlert(context.table, next.value, context.nowMilliseconds() + CLAIM_MILLISECONDS)
        if (alert !== undefined) {
          await deliver(alert, context)
        }
      } catch (error) {
        logger.error('alert not delivered', { error: error instanceof Error ? error : undefined })
        count('reconcile_failed')
      }
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_DELIVERIES }, worker))
}

async function deliver(alert: Alert, context: Context): Promise<void> {
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
  await recordDelivery(context.table, alert, { ...givenUp({ operators, tenant }), tries, retryAt: undefined })
  logger.error('alert undelivered', {
    tenantId: alert.tenantId,
    alertId: alert.id,
    type: alert.type,
    operators,
    tenant,
  })
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

async function publish(alert: Alert, { publishToOperators }: Context): Promise<DeliveryState> {
  if (publishToOperators === undefined) {
    return 'unwanted'
  }
  try {
    await publishToOperators({ id: alert.id, subject: subjectOf(alert), body: alertBody(alert) })
    logger.info('alert published', { tenantId: alert.tenantId, alertId: alert.id })
    return 'delivered'
  } catch (error) {
    logger.warn('alert not published', { alertId: alert.id, error: error instanceof Error ? error : undefined })
    return 'due'
  }
}

function subjectOf({ type, tenantId, data }: Alert): string {
  return type === 'balance.low'
    ? `Reelgate: balance of ${tenantId} is ${String(data.available)}`
    : `Reelgate: ${String(data.threshold)} % of a budget of ${tenantId} is spent`
}

/** A try that fails counts as one, whatever the reason: otherwise the operators would get the alert again with every run. */
async function trySend(alert: Alert, context: Context): Promise<DeliveryState> {
  try {
    return await send(alert, context)
  } catch (error) {
    logger.warn('alert not sent', { alertId: alert.id, error: error instanceof Error ? error : undefined })
    return 'due'
  }
}

async function send(alert: Alert, context: Context): Promise<DeliveryState> {
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
  logger.info('alert sent', { tenantId, alertId: id, ...delivery })
  return delivery.outcome === 'delivered' ? 'delivered' : 'due'
}
