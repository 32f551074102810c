import * as z from 'zod/mini'
import { microcredits } from '#core/money/money.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Item } from '../table/item-codec.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { giveBack } from './give-back.ts'
import { type OpenRequest, RELAY_LIFETIME_MILLISECONDS } from './relay-reservation.ts'

/** The open reservation of a relayed request as version 0.2.0 wrote it: an item of its own, in the index. */
export type EarlierReservation = OpenRequest & {
  readonly operation: string | undefined
  readonly keyId: string | undefined
}

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))

const openItem = z.object({
  PK: z.string(),
  SK: z.string(),
  amount,
  model: z.string(),
  operation: z.optional(z.string()),
  keyId: z.optional(z.string()),
  reservedAt: z.number(),
})

/** Reads an open reservation. @throws ZodError for an item that version 0.2.0 did not write. */
export function readEarlierReservation(item: Item): EarlierReservation {
  const { PK, SK, operation, keyId, ...rest } = openItem.parse(item)
  return {
    ...rest,
    tenantId: PK.slice(PK.indexOf('#') + 1),
    requestId: SK.slice(SK.indexOf('#') + 1),
    operation,
    keyId,
  }
}

/** Whether the function that could resolve this reservation has ended. */
export function isExpired({ reservedAt }: OpenRequest, nowMilliseconds: number): boolean {
  return nowMilliseconds >= reservedAt + RELAY_LIFETIME_MILLISECONDS
}

/** When a request was reserved, by the time at which Reconcile looks at it, which never changes. Both in milliseconds. */
export function reservedAtOf(dueAt: number): number {
  return dueAt - RELAY_LIFETIME_MILLISECONDS
}

/**
 * Gives a reservation back, unless it was resolved meanwhile: deletes the open item and writes the one ledger row of the request.
 * Either condition alone prevents a second resolution.
 * @returns whether this call gave it back.
 * @throws ConditionsNotMetError when the balance holds less than the amount, or its budget changed meanwhile.
 * @throws ServiceUnavailableError when the balance stayed contended.
 */
export async function releaseEarlierReservation(
  table: Table,
  reservation: EarlierReservation,
  nowMilliseconds: number,
): Promise<boolean> {
  const { tenantId, requestId, amount: locked, ...facts } = reservation
  const balance = await giveBack(table, { tenantId, amount: locked, nowMilliseconds })
  try {
    await table.transact({
      balance,
      open: {
        Delete: {
          Key: tableKeys.requestReservation(tenantId, requestId),
          ConditionExpression: 'attribute_exists(PK) AND amount = :amount',
          ExpressionAttributeValues: { ':amount': locked },
        },
      },
      row: {
        Put: {
          Item: {
            ...tableKeys.ledgerResolution(tenantId, requestId),
            kind: 'release',
            job: requestId,
            amount: locked,
            at: nowMilliseconds,
            ...facts,
          },
          ConditionExpression: 'attribute_not_exists(PK)',
        },
      },
    })
    return true
  } catch (error) {
    if (error instanceof ConditionsNotMetError && (error.failed.has('open') || error.failed.has('row'))) {
      return false
    }
    throw error
  }
}
