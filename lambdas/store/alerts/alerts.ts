import { randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import type { Budget, PeriodKind } from '#core/budgets.ts'
import type { Microcredits } from '#core/money.ts'
import { readKeyBudget, readTenantBudget } from '../budgets.ts'
import { storedAmount } from '../table/attributes.ts'
import { allOf, beginningWith, change, dueBy, isStill } from '../table/expressions.ts'
import {
  type ConditionCheck,
  DUE_INDEX,
  type Item,
  queryItems,
  readBatches,
  type Table,
  type TableWrite,
  tryTransact,
} from '../table/table.ts'
import { ALERTS_PARTITION, BUDGETS_PARTITION, dueSortKey, type TableKey, tableKeys } from '../table/table-keys.ts'

/** Types of alerts, as `type` of the message says them. */
const ALERT_TYPES = ['budget.threshold', 'balance.low'] as const

/** `due` still has to be delivered; `failed` was tried as often as allowed; `unwanted` has no receiver. */
const DELIVERY_STATES = ['due', 'delivered', 'failed', 'unwanted'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** What an alert says. Amounts are decimal strings in credits. Holds no secret. */
type AlertData = Readonly<Record<string, string | number | null | readonly number[]>>

/** A recorded alert. It is delivered to two receivers, each under the same id. */
export type Alert = {
  readonly tenantId: string
  /** The `webhook-id` of every delivery. */
  readonly id: string
  readonly type: (typeof ALERT_TYPES)[number]
  /** When it was found, in Unix milliseconds. */
  readonly at: number
  readonly data: AlertData
  /** Tries that ended with a failure. */
  readonly tries: number
  readonly operators: DeliveryState
  readonly tenant: DeliveryState
}

/** An alert that was found and not recorded yet. */
export type NewAlert = Pick<Alert, 'tenantId' | 'type' | 'at' | 'data'>

/** The write that records an alert, which is due at once. */
export function putAlert({ tenantId, type, at, data }: NewAlert): TableWrite {
  const id = `evt_${randomUUID()}`
  return {
    Put: {
      ConditionExpression: 'attribute_not_exists(PK)',
      Item: {
        ...tableKeys.alert(tenantId, alertPosition(at, id)),
        id,
        type,
        at,
        data,
        tries: 0,
        operators: 'due',
        tenant: 'due',
        GSI1PK: ALERTS_PARTITION,
        GSI1SK: dueSortKey(at),
      },
    },
  }
}

function alertPosition(atMilliseconds: number, id: string): string {
  return `${dueSortKey(atMilliseconds)}#${id}`
}

const state = z.enum(DELIVERY_STATES)
const alertItem = z.object({
  PK: z.string(),
  id: z.string(),
  type: z.enum(ALERT_TYPES),
  at: z.number(),
  data: z.record(z.string(), z.union([z.string(), z.number(), z.null(), z.array(z.number())])),
  tries: z.number(),
  operators: state,
  tenant: state,
})

/** Reads an alert. @throws ZodError for an item that this service did not write. */
function readAlert(item: Item): Alert {
  const { PK, ...alert } = alertItem.parse(item)
  return { ...alert, tenantId: PK.slice(PK.indexOf('#') + 1) }
}

/** Keys of the alerts that are due, with the time at which each is due. */
export async function* dueAlerts(table: Table, nowMilliseconds: number): AsyncGenerator<TableKey & { dueAt: string }> {
  for await (const { PK, SK, GSI1SK } of queryItems(table, dueBy(ALERTS_PARTITION, nowMilliseconds))) {
    yield { PK: String(PK), SK: String(SK), dueAt: String(GSI1SK) }
  }
}

/** An alert in one try, which ends with the claim. */
export type ClaimedAlert = Alert & { readonly claim: string }

/**
 * Claims an alert for one try: until then no other run tries it. A process that dies in between leaves the alert to the run
 * after that time, so the alert is delivered at least once.
 * @returns the alert, claimed until then; undefined if another run was faster.
 */
export async function claimAlert(
  table: Table,
  { PK, SK, dueAt }: TableKey & { readonly dueAt: string },
  untilMilliseconds: number,
): Promise<ClaimedAlert | undefined> {
  const claim = dueSortKey(untilMilliseconds)
  const { isWritten, item } = await table.updateItem(
    change({ PK, SK }, { set: { GSI1SK: claim } }, [isStill('GSI1SK', dueAt)]),
  )
  return isWritten ? { ...readAlert(item), claim } : undefined
}

/**
 * Records the outcome of a try, unless another run has claimed the alert since: that run records what has come of its own.
 * @param outcome.retryAt Unix milliseconds of the next try; undefined if nothing is left to deliver.
 */
export async function recordDelivery(
  table: Table,
  { tenantId, at, id, claim }: ClaimedAlert,
  outcome: Pick<Alert, 'operators' | 'tenant' | 'tries'> & { readonly retryAt: number | undefined },
): Promise<void> {
  const { operators, tenant, tries, retryAt } = outcome
  const tried = { operators, tenant, tries }
  const recorded =
    retryAt === undefined
      ? { set: tried, remove: ['GSI1PK', 'GSI1SK'] }
      : { set: { ...tried, GSI1SK: dueSortKey(retryAt) } }
  const key = tableKeys.alert(tenantId, alertPosition(at, id))
  await table.updateItem(change(key, recorded, [isStill('GSI1SK', claim)]))
}

/** The latest alerts of a tenant, newest first. */
export async function latestAlerts(table: Table, tenantId: string, limit: number): Promise<Alert[]> {
  const alerts = beginningWith(tableKeys.alert(tenantId, ''))
  const { items } = await table.queryPage({ ...alerts, ScanIndexForward: false, Limit: limit })
  return items.map(readAlert)
}

const markItem = z.object({
  /** Rises with each change, so that of two runs only one records an alert. */
  version: z.number(),
  /** The period of the crossed thresholds; undefined for a balance. */
  period: z.optional(z.string()),
  /** Thresholds in percent that were alerted in that period. */
  crossed: z.array(z.number()),
  /** Whether the balance has been above its low mark since the last alert. */
  isArmed: z.boolean(),
})

/** What was last alerted about one budget or balance. */
export type AlertMark = Readonly<z.infer<typeof markItem>>

/** Nothing was alerted yet. */
const NO_MARK: AlertMark = { version: 0, crossed: [], isArmed: true }

/** Identifies a budget of a key by its id, a tenant's budget, or a tenant's balance. */
export type MarkKey = { readonly tenantId: string; readonly subject: `key#${string}` | 'tenant' | 'balance' }

/** Reads a mark, strongly consistent. */
export async function readAlertMark(table: Table, { tenantId, subject }: MarkKey): Promise<AlertMark> {
  const item = await table.readItem(tableKeys.alertMark(tenantId, subject))
  return item === undefined ? NO_MARK : markItem.parse(item)
}

type MarkMove = {
  readonly key: MarkKey
  readonly from: AlertMark
  readonly to: Omit<AlertMark, 'version'>
  /** Undefined to arm a balance again. */
  readonly alert?: NewAlert
  /** The kind of period of the budget that was examined. */
  readonly kind?: PeriodKind
}

/**
 * Moves a mark and records the alert with it, or neither.
 * @returns false if another run moved the mark since it was read, or the budget got another kind of period; nothing was written.
 */
export async function moveAlertMark(table: Table, { key, from, to, alert, kind }: MarkMove): Promise<boolean> {
  const Item = { ...tableKeys.alertMark(key.tenantId, key.subject), ...to, version: from.version + 1 }
  const refusal = await tryTransact(table, {
    mark: { Put: { Item, ...allOf([isStill('version', from.version === 0 ? undefined : from.version)]) } },
    alert: alert && putAlert(alert),
    budget: kind && { ConditionCheck: isBudgetOfKind(key, kind) },
  })
  return refusal === undefined
}

/** A run that read the budget before its kind was changed would tell again what is told. */
function isBudgetOfKind({ tenantId, subject }: MarkKey, kind: PeriodKind): ConditionCheck {
  return subject.startsWith('key#')
    ? { Key: tableKeys.keyBudget(subject.slice('key#'.length)), ...allOf([isStill('period', kind)]) }
    : { Key: tableKeys.balance(tenantId), ...allOf([isStill('budgetPeriod', kind)]) }
}

/** A budget of a key, or the balance of a tenant that has a budget or a low mark. */
export type WatchedItem =
  | { readonly of: 'key'; readonly tenantId: string; readonly budgetId: string; readonly budget: Budget }
  | {
      readonly of: 'tenant'
      readonly tenantId: string
      readonly budget: Budget | undefined
      readonly available: Microcredits
      /** Reserved by open requests: comes back where they cost less. */
      readonly held: Microcredits
      /** The balance, held credits included, below which the tenant and the operators are alerted. */
      readonly lowBalance: Microcredits | undefined
    }

/** An item that this service did not write, or that misses a part: one of them must not keep the others from being watched. */
type UnreadableItem = { readonly of: 'unreadable'; readonly tenantId: string; readonly error: unknown }

/** Everything that alerts watch, in batches. Their keys stand in the index and never change there, so watching costs no write. */
export async function* watchedItems(table: Table): AsyncGenerator<(WatchedItem | UnreadableItem)[]> {
  for await (const items of readBatches(table, watchedKeys(table))) {
    yield items.map(tryWatched)
  }
}

async function* watchedKeys(table: Table): AsyncGenerator<TableKey> {
  const query = {
    IndexName: DUE_INDEX,
    KeyConditionExpression: 'GSI1PK = :partition',
    ExpressionAttributeValues: { ':partition': BUDGETS_PARTITION },
  } as const
  for await (const { PK, SK } of queryItems(table, query)) {
    yield { PK: String(PK), SK: String(SK) }
  }
}

function tryWatched(item: Item): WatchedItem | UnreadableItem {
  try {
    return readWatched(item)
  } catch (error) {
    return { of: 'unreadable', tenantId: String(item.tenantId ?? idOf(String(item.PK))), error }
  }
}

const keyItem = z.object({ PK: z.string(), tenantId: z.string() })
const balanceItem = z.object({
  PK: z.string(),
  available: storedAmount,
  held: storedAmount,
  lowBalance: z.optional(storedAmount),
})

function readWatched(item: Item): WatchedItem {
  if (String(item.PK).startsWith('BUDGET#')) {
    const { PK, tenantId } = keyItem.parse(item)
    return { of: 'key', tenantId, budgetId: idOf(PK), budget: readKeyBudget(item) }
  }
  const { PK, ...balance } = balanceItem.parse(item)
  return { of: 'tenant', tenantId: idOf(PK), budget: readTenantBudget(item), lowBalance: undefined, ...balance }
}

function idOf(partition: string): string {
  return partition.slice(partition.indexOf('#') + 1)
}
