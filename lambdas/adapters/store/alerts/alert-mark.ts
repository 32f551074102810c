import * as z from 'zod/mini'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { type NewAlert, putAlert } from './alert.ts'

/** What was last alerted about one budget or balance. */
export type AlertMark = {
  /** Rises with each change, so that of two runs only one records an alert. */
  readonly version: number
  /** The period of the crossed thresholds; undefined for a balance. */
  readonly period?: string | undefined
  /** Thresholds in percent that were alerted in that period. */
  readonly crossed: readonly number[]
  /** Whether the balance has been above its low mark since the last alert. */
  readonly isArmed: boolean
}

/** Nothing was alerted yet. */
const NO_MARK: AlertMark = { version: 0, crossed: [], isArmed: true }

const markItem = z.object({
  version: z.number(),
  period: z.optional(z.string()),
  crossed: z.array(z.number()),
  isArmed: z.boolean(),
})

/** Identifies a budget of a key by its id, a tenant's budget, or a tenant's balance. */
export type MarkKey = { readonly tenantId: string; readonly subject: `key#${string}` | 'tenant' | 'balance' }

/** Reads a mark, strongly consistent. */
export async function readAlertMark(table: Table, { tenantId, subject }: MarkKey): Promise<AlertMark> {
  const item = await table.readItem(tableKeys.alertMark(tenantId, subject))
  return item === undefined ? NO_MARK : markItem.parse(item)
}

/**
 * Moves a mark and records the alert with it, or neither.
 * @param alert undefined to arm a balance again.
 * @returns false if another run moved the mark since it was read; nothing was written.
 */
export async function moveAlertMark(
  table: Table,
  { key, from, to, alert }: { key: MarkKey; from: AlertMark; to: Omit<AlertMark, 'version'>; alert?: NewAlert },
): Promise<boolean> {
  const isAsRead = from.version === 0 ? 'attribute_not_exists(PK)' : '#version = :version'
  const item = { ...tableKeys.alertMark(key.tenantId, key.subject), ...to, version: from.version + 1 }
  const condition =
    from.version === 0
      ? { ConditionExpression: isAsRead }
      : {
          ConditionExpression: isAsRead,
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': from.version },
        }
  try {
    await table.transact({
      mark: { Put: { Item: item, ...condition } },
      alert: alert === undefined ? undefined : putAlert(alert),
    })
    return true
  } catch (error) {
    if (error instanceof ConditionsNotMetError) {
      return false
    }
    throw error
  }
}
