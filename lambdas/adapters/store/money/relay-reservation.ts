import * as z from 'zod/mini'
import { type Microcredits, microcredits, ZERO } from '#core/money/money.ts'
import type { CountedUsage } from '#core/quota/counted-usage.ts'
import type { Item } from '../table/item-codec.ts'
import type { TableWrite } from '../table/table.ts'
import { dueSortKey, openShard, tableKeys } from '../table/table-keys.ts'

/** The locked estimate of a request that is not resolved. */
export type OpenRequest = {
  readonly tenantId: string
  readonly requestId: string
  readonly model: string
  readonly amount: Microcredits
  /** Milliseconds. */
  readonly reservedAt: number
}

/** An estimate to lock before a request is relayed, with the key of the request. */
export type RelayReservation = OpenRequest & {
  readonly keyDigest: string
  /** The revision of the key that the request read. */
  readonly keyRevision?: number | undefined
  readonly keyId: string
  readonly operation: string
}

/** How a reservation ends: billed, by an estimate where the upstream did not report its usage, or given back. */
export type RelayResolution =
  | {
      readonly kind: 'settle'
      readonly actual: Microcredits
      readonly estimated: boolean
      /** The usage that `actual` is the price of; estimated where the amount is. */
      readonly usage?: CountedUsage
    }
  | { readonly kind: 'release' }

/** No function lives longer than Lambda's 15 minutes, so none is left to resolve a reservation of this age. */
const LIFETIME_MILLISECONDS = 16 * 60 * 1000

/** Whether the function that could resolve this reservation has ended. */
export function isExpired({ reservedAt }: OpenRequest, nowMilliseconds: number): boolean {
  return nowMilliseconds >= reservedAt + LIFETIME_MILLISECONDS
}

/** When a request was reserved, by the time at which Reconcile looks at it, which never changes. Both in milliseconds. */
export function reservedAtOf(dueAt: number): number {
  return dueAt - LIFETIME_MILLISECONDS
}

/** The amount that a resolution bills. */
export function billedAmount(resolution: RelayResolution): Microcredits {
  return resolution.kind === 'settle' ? resolution.actual : ZERO
}

/** The open reservation. It is also the ledger's entry of the lock, until the row of its resolution replaces it. */
export function putReservation(reservation: RelayReservation): TableWrite {
  const { tenantId, requestId, amount, model, operation, keyId, reservedAt } = reservation
  return {
    Put: {
      Item: {
        ...tableKeys.requestReservation(tenantId, requestId),
        amount,
        model,
        operation,
        keyId,
        reservedAt,
        GSI1PK: openShard(requestId),
        GSI1SK: dueSortKey(reservedAt + LIFETIME_MILLISECONDS),
      },
      ConditionExpression: 'attribute_not_exists(PK)',
    },
  }
}

/**
 * Ends a reservation: deletes the open item and writes the one ledger row of the request. Either condition alone prevents a second
 * resolution.
 * @param at milliseconds.
 */
export function closeReservation(
  { tenantId, requestId, amount, model, reservedAt }: OpenRequest,
  resolution: RelayResolution,
  at: number,
): { readonly open: TableWrite; readonly row: TableWrite } {
  const isOpenWithThisAmount = 'attribute_exists(PK) AND amount = :amount'
  const open = {
    Key: tableKeys.requestReservation(tenantId, requestId),
    ConditionExpression: isOpenWithThisAmount,
    ExpressionAttributeValues: { ':amount': amount },
  }
  const row = {
    ...tableKeys.ledgerResolution(tenantId, requestId),
    kind: resolution.kind,
    job: requestId,
    amount,
    actual: resolution.kind === 'settle' ? resolution.actual : undefined,
    estimated: resolution.kind === 'settle' && resolution.estimated ? true : undefined,
    at,
    reservedAt,
    model,
  }
  return { open: { Delete: open }, row: { Put: { Item: row, ConditionExpression: 'attribute_not_exists(PK)' } } }
}

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))

const openItem = z.object({ PK: z.string(), SK: z.string(), amount, model: z.string(), reservedAt: z.number() })

/** Reads an open reservation. @throws ZodError for an item that this service did not write. */
export function readOpenRequest(item: Item): OpenRequest {
  const { PK, SK, ...rest } = openItem.parse(item)
  return { tenantId: PK.slice(PK.indexOf('#') + 1), requestId: SK.slice(SK.indexOf('#') + 1), ...rest }
}

const resolutionRow = z.object({ kind: z.enum(['settle', 'release']), actual: z.optional(amount) })

/** Whether the ledger row of a request records this resolution. */
export function isSameResolution(row: Item, resolution: RelayResolution): boolean {
  const { kind, actual } = resolutionRow.parse(row)
  return kind === resolution.kind && (actual ?? ZERO) === billedAmount(resolution)
}
