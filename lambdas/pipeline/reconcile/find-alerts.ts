import { type NearBudget, nearBudget } from '#core/admin/summary.ts'
import { type Budget, budgetAt, crossedThresholds, periodEnd } from '#core/budgets.ts'
import { formatCredits } from '#core/money.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { readAlertSettings } from '#store/alerts/alert-settings.ts'
import {
  type AlertMark,
  type MarkKey,
  moveAlertMark,
  readAlertMark,
  type WatchedItem,
  watchedItems,
} from '#store/alerts/alerts.ts'
import type { StepContext } from '../step-context.ts'

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
        logger.error('alerts not examined', {
          tenantId: item.tenantId,
          error: error instanceof Error ? error : undefined,
        })
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
  if (await moveAlertMark(context.table, { key, from: mark, to, alert })) {
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
