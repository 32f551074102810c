import * as z from 'zod/mini'
import { type Microcredits, microcredits, ZERO } from '#core/money/money.ts'
import type { Item } from '../table/attribute-value.ts'
import { dueSortKey, openShard, tableKeys } from '../table/table-keys.ts'
import type { TableWrite } from '../table/table-write.ts'

/** A locked estimate of a request that was not resolved yet. */
export type OpenRequest = {
  readonly tenantId: string
  readonly requestId: string
  readonly model: string
  readonly amount: Microcredits
  /** Milliseconds. */
  readonly reservedAt: number
}

/** An estimate to lock before a request is relayed, under the key that it came with. */
export type RelayReservation = OpenRequest & {
  readonly keyDigest: string
  readonly keyId: string
  readonly operation: string
}

/** How a reservation ends: billed, perhaps without the upstream's word for what it used, or given back. */
export type RelayResolution =
  | { readonly kind: 'settle'; readonly actual: Microcredits; readonly estimated: boolean }
  | { readonly kind: 'release' }

/** No function lives longer than Lambda's 15 minutes, so nobody resolves a reservation of this age any more. */
const LIFETIME_MILLISECONDS = 16 * 60 * 1000

/** Nobody resolves this reservation any more. */
export function isExpired({ reservedAt }: OpenRequest, nowMilliseconds: number): boolean {
  return nowMilliseconds >= reservedAt + LIFETIME_MILLISECONDS
}

/** When a request was reserved, by the time at which Reconcile is to look at it, which never changes. Both in milliseconds. */
export function reservedAtOf(dueAt: number): number {
  return dueAt - LIFETIME_MILLISECONDS
}

/** What a resolution takes from the tenant. */
export function billedAmount(resolution: RelayResolution): Microcredits {
  return resolution.kind === 'settle' ? resolution.actual : ZERO
}

/** The open reservation. It is the ledger's entry of the lock too, until the row of its resolution takes that over. */
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
 * Ends a reservation: the open item goes, and the one ledger row of the request comes. Either condition alone keeps a
 * second resolution out.
 * @param at milliseconds.
 */
export function closeReservation(
  { tenantId, requestId, amount, model, reservedAt }: OpenRequest,
  resolution: RelayResolution,
  at: number,
): readonly [TableWrite, TableWrite] {
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
  return [{ Delete: open }, { Put: { Item: row, ConditionExpression: 'attribute_not_exists(PK)' } }]
}

const amount = z.pipe(z.union([z.number(), z.bigint()]), z.transform(microcredits))

const openItem = z.object({ PK: z.string(), SK: z.string(), amount, model: z.string(), reservedAt: z.number() })

/** Reads an open reservation. @throws ZodError for an item that nobody of ours wrote. */
export function readOpenRequest(item: Item): OpenRequest {
  const { PK, SK, ...rest } = openItem.parse(item)
  return { tenantId: PK.slice(PK.indexOf('#') + 1), requestId: SK.slice(SK.indexOf('#') + 1), ...rest }
}

const resolutionRow = z.object({ kind: z.enum(['settle', 'release']), actual: z.optional(amount) })

/** Whether the ledger's row of a request says the same as a resolution. */
export function isSameResolution(row: Item, resolution: RelayResolution): boolean {
  const { kind, actual } = resolutionRow.parse(row)
  return kind === resolution.kind && (actual ?? ZERO) === billedAmount(resolution)
}
