import * as z from 'zod/mini'
import { type Microcredits, ZERO } from '#core/money.ts'
import {
  type CountedSettlement,
  type CountedUsage,
  countedUsage,
  isCounted,
  nonZeroCounts,
} from '#core/pricing/usage.ts'
import type { BudgetOfKey } from '../callers.ts'
import { storedAmount } from '../table/attributes.ts'
import type { Item, TableWrite } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'

/** The locked estimate of a request that is not resolved. */
type OpenRequest = {
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
  /** The user under which it is counted; undefined where users are not. */
  readonly user?: string | undefined
  /** The budget of the key, in which the request counts. */
  readonly budget?: BudgetOfKey | undefined
}

/**
 * How a reservation ends: billed, by an estimate where the upstream did not report its usage, or given back. `channel` served the
 * request.
 */
export type RelayResolution = { readonly outcome?: RelayOutcome } & (
  | {
      readonly kind: 'settle'
      readonly actual: Microcredits
      readonly estimated: boolean
      /** The usage that `actual` is the price of; estimated where the amount is. */
      readonly usage?: CountedUsage
      readonly channel?: string
    }
  | { readonly kind: 'release' }
)

/** What became of a request, for operators. Nothing of it is money. */
export type RelayOutcome = {
  /** Of the response; undefined for a client that left before. */
  readonly status?: number | undefined
  /** Until the head of the response. */
  readonly firstByteMilliseconds?: number | undefined
  /** The code of the failure, such as `upstream_auth`; undefined for a success. */
  readonly failure?: string | undefined
  /** What the upstream said, as a code or a fixed phrase, such as `HTTP 401 invalid_api_key`. */
  readonly cause?: string | undefined
  /** The channel that failed last. */
  readonly channel?: string | undefined
}

/** A resolution at a time in milliseconds, and the reservation that it ends. */
export type ResolvedReservation = {
  readonly reservation: RelayReservation
  readonly resolution: RelayResolution
  readonly at: number
}

/** What a row says of a reservation: nothing of its key's record. */
type RowOf = Omit<ResolvedReservation, 'reservation'> & {
  readonly reservation: Omit<RelayReservation, 'keyDigest' | 'keyRevision' | 'budget'>
}

/** No function lives longer than Lambda's 15 minutes, so none is left to resolve a reservation of this age. */
export const RELAY_LIFETIME_MILLISECONDS = 16 * 60 * 1000

/** The amount that a resolution bills. */
export function billedAmount(resolution: RelayResolution): Microcredits {
  return resolution.kind === 'settle' ? resolution.actual : ZERO
}

/** The write of a ledger row that no request has yet. */
export function putRow(row: Item): TableWrite {
  return { Put: { Item: row, ConditionExpression: 'attribute_not_exists(PK)' } }
}

/** The one ledger row of a request, for its reservation and its resolution. */
export function resolutionRow({ reservation, resolution, at }: RowOf): Item {
  const { tenantId, requestId, amount, reservedAt, model, operation, keyId, user } = reservation
  return {
    ...tableKeys.ledgerResolution(tenantId, requestId),
    kind: resolution.kind,
    job: requestId,
    amount,
    ...outcomeFields(resolution.outcome),
    ...(resolution.kind === 'settle' ? settledFields(resolution) : {}),
    at,
    reservedAt,
    model,
    operation,
    keyId,
    user,
  }
}

/** Some 20 bytes of a success, some 90 of a failure. */
function outcomeFields({ firstByteMilliseconds: firstByte, ...outcome }: RelayOutcome = {}): Item {
  return { ...outcome, firstByte }
}

function settledFields({ actual, estimated, usage, channel }: RelayResolution & { readonly kind: 'settle' }): Item {
  return {
    actual,
    estimated: estimated ? true : undefined,
    channel,
    usage: usage && nonZeroCounts(usage),
    counted: isCounted({ actual }) ? true : undefined,
  }
}

/** What the usage counters need of a settlement; undefined for a resolution that is not counted. */
export function countedSettlement({ reservation, resolution, at }: ResolvedReservation): CountedSettlement | undefined {
  if (resolution.kind === 'release' || !isCounted(resolution)) {
    return undefined
  }
  const { tenantId, keyId, operation, model, user } = reservation
  const { actual, usage = countedUsage({}) } = resolution
  return { tenantId, keyId, operation, model, user, at, actual, usage }
}

const storedResolution = z.object({ kind: z.enum(['settle', 'release']), actual: z.optional(storedAmount) })

/** Whether the ledger row of a request records this resolution. */
export function isSameResolution(row: Item, resolution: RelayResolution): boolean {
  const { kind, actual } = storedResolution.parse(row)
  return kind === resolution.kind && (actual ?? ZERO) === billedAmount(resolution)
}
