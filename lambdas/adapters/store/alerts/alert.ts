import { randomUUID } from 'node:crypto'
import * as z from 'zod/mini'
import type { Item } from '../table/item-codec.ts'
import { queryItems } from '../table/query-items.ts'
import { DUE_INDEX, type Table, type TableWrite } from '../table/table.ts'
import { ALERTS_PARTITION, dueSortKey, type TableKey, tableKeys } from '../table/table-keys.ts'

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

/** Keys of the alerts that are due, with the time at which each is due. The index lags behind the table by moments. */
export async function* dueAlerts(table: Table, nowMilliseconds: number): AsyncGenerator<TableKey & { dueAt: string }> {
  const due = queryItems(table, {
    IndexName: DUE_INDEX,
    KeyConditionExpression: 'GSI1PK = :partition AND GSI1SK <= :now',
    ExpressionAttributeValues: { ':partition': ALERTS_PARTITION, ':now': dueSortKey(nowMilliseconds) },
  })
  for await (const { PK, SK, GSI1SK } of due) {
    yield { PK: String(PK), SK: String(SK), dueAt: String(GSI1SK) }
  }
}

/**
 * Claims an alert for one try: until then no other run tries it. A process that dies in between leaves the alert to the run
 * after that time, so the alert is delivered at least once.
 * @returns the alert; undefined if another run was faster.
 */
export async function claimAlert(
  table: Table,
  { PK, SK, dueAt }: TableKey & { readonly dueAt: string },
  untilMilliseconds: number,
): Promise<Alert | undefined> {
  const { isWritten, item } = await table.updateItem({
    Key: { PK, SK },
    UpdateExpression: 'SET GSI1SK = :until',
    ConditionExpression: 'GSI1SK = :dueAt',
    ExpressionAttributeValues: { ':until': dueSortKey(untilMilliseconds), ':dueAt': dueAt },
  })
  return isWritten ? readAlert(item) : undefined
}

/**
 * Records the outcome of a try.
 * @param outcome.retryAt Unix milliseconds of the next try; undefined if nothing is left to deliver.
 */
export async function recordDelivery(
  table: Table,
  { tenantId, at, id }: Alert,
  outcome: Pick<Alert, 'operators' | 'tenant' | 'tries'> & { readonly retryAt: number | undefined },
): Promise<void> {
  const { operators, tenant, tries, retryAt } = outcome
  await table.updateItem({
    Key: tableKeys.alert(tenantId, alertPosition(at, id)),
    UpdateExpression: `SET operators = :operators, tenant = :tenant, tries = :tries${retryAt === undefined ? ' REMOVE GSI1PK, GSI1SK' : ', GSI1SK = :retryAt'}`,
    ConditionExpression: 'attribute_exists(PK)',
    ExpressionAttributeValues: {
      ':operators': operators,
      ':tenant': tenant,
      ':tries': tries,
      ...(retryAt === undefined ? {} : { ':retryAt': dueSortKey(retryAt) }),
    },
  })
}

/** The latest alerts of a tenant, newest first. */
export async function latestAlerts(table: Table, tenantId: string, limit: number): Promise<Alert[]> {
  const { PK, SK } = tableKeys.alert(tenantId, '')
  const { items } = await table.queryPage({
    KeyConditionExpression: 'PK = :pk AND begins_with(SK, :sk)',
    ExpressionAttributeValues: { ':pk': PK, ':sk': SK },
    ScanIndexForward: false,
    ConsistentRead: true,
    Limit: limit,
  })
  return items.map(readAlert)
}
