import * as z from 'zod/mini'
import { PERIOD_KINDS, type PeriodKind } from '#core/budgets.ts'
import { RESOLUTIONS } from '#core/catalogue/parameters.ts'
import type { VideoPriceTier } from '#core/catalogue/price-rows.ts'
import type { Microcredits } from '#core/money.ts'
import type { PriceSnapshot } from '#core/pricing/video-cost.ts'
import { deleteObject, type OpenBucket } from '../bucket/bucket.ts'
import { type BudgetOfKey, budgetAttributes, namedBudget } from '../callers.ts'
import { storedAmount } from '../table/attributes.ts'
import { change } from '../table/expressions.ts'
import type { Table } from '../table/table.ts'
import { CLEANUP_PARTITION, dueSortKey, type JobKey, tableKeys } from '../table/table-keys.ts'

/** A locked estimate with all that its settlement needs: frozen prices, the requested tier, and the request itself. */
export type Reservation = {
  readonly amount: Microcredits
  readonly state: 'held' | 'settled' | 'released'
  readonly actual: Microcredits | undefined
  readonly snapshot: PriceSnapshot
  readonly tier: VideoPriceTier
  /** The validated request as JSON, inline or in the bucket. */
  readonly request: { readonly inline: string } | { readonly bucketKey: string }
  /** Public id of the key that made it. */
  readonly keyId: string
  /** As in the table of routes. */
  readonly operation: string
  /** The budget of the key in which it counts; undefined without one. */
  readonly budget: BudgetOfKey | undefined
  /** The kind of period that the tenant's budget had; undefined without one. The budget may have changed since. */
  readonly tenantBudgetKind: PeriodKind | undefined
  /** How often Reconcile started a new execution in place of a broken one. */
  readonly restarts: number
}

const tier = z.union([z.boolean(), z.literal('any')])

const reservationItem = z.object({
  amount: storedAmount,
  state: z.enum(['held', 'settled', 'released']),
  actual: z.optional(storedAmount),
  snapshot: z.object({
    billing: z.enum(['token', 'per_second', 'per_request']),
    prices: z.array(
      z.object({ resolution: z.enum([...RESOLUTIONS, 'any']), audio: tier, video_input: tier, price: z.string() }),
    ),
    quantityMax: z.number(),
  }),
  tier: z.object({ resolution: z.enum(RESOLUTIONS), audio: z.boolean(), videoInput: z.boolean() }),
  request: z.optional(z.string()),
  requestKey: z.optional(z.string()),
  restarts: z.number(),
  keyId: z.string(),
  operation: z.string(),
  ...budgetAttributes,
  tenantBudgetPeriod: z.optional(z.enum(PERIOD_KINDS)),
})

/** A reservation from its item in the table. @throws ZodError for an item of another form. */
export function readReservationItem(item: unknown): Reservation {
  const { request, requestKey, actual, budgetId, budgetPeriod, tenantBudgetPeriod, ...rest } =
    reservationItem.parse(item)
  return {
    ...rest,
    actual,
    budget: namedBudget({ budgetId, budgetPeriod }),
    tenantBudgetKind: tenantBudgetPeriod,
    request: requestKey === undefined ? { inline: request ?? '{}' } : { bucketKey: requestKey },
  }
}

/** Reads a job's reservation, strongly consistent; undefined when there is none. */
export async function getReservation(table: Table, tenantId: string, jobId: string): Promise<Reservation | undefined> {
  const item = await table.readItem(tableKeys.reservation(tenantId, jobId))
  return item === undefined ? undefined : readReservationItem(item)
}

type Stores = { readonly table: Table; readonly openBucket: OpenBucket }

/** The function that resolves a reservation deletes its request at once; Reconcile deletes what is left after this. */
export const LEFT_AFTER_MILLISECONDS = 60_000

/**
 * The part of a reservation's closing change that concerns the due index: the reservation leaves the index, or, while the bucket
 * still has its request, moves to the clean-ups, so that the object is found again whatever happens to this process.
 */
export function leaveDueIndex({ request }: Reservation, nowMilliseconds: number) {
  const GSI1SK = dueSortKey(nowMilliseconds + LEFT_AFTER_MILLISECONDS)
  return 'inline' in request ? LEAVE : { set: { GSI1PK: CLEANUP_PARTITION, GSI1SK }, remove: [] }
}

const LEAVE = { set: {}, remove: ['GSI1PK', 'GSI1SK'] }

/** Deletes the request of a resolved reservation from the bucket, if it is there. May be repeated at any point. */
export async function deleteResolvedRequest(
  { table, openBucket }: Stores,
  { tenantId, jobId }: JobKey,
  request: Reservation['request'],
): Promise<void> {
  if ('inline' in request) {
    return
  }
  await deleteObject(await openBucket(), request.bucketKey)
  // An open reservation stays in the index, which leads Reconcile to its job.
  const isResolved = { condition: 'attribute_exists(PK) AND #state <> :held', values: { ':held': 'held' } }
  await table.updateItem(change(tableKeys.reservation(tenantId, jobId), LEAVE, [isResolved]))
}

/** Does the same for a reservation that the index named, unless the reservation is open. */
export async function cleanUpResolvedRequest(stores: Stores, job: JobKey): Promise<void> {
  const reservation = await getReservation(stores.table, job.tenantId, job.jobId)
  if (reservation !== undefined && reservation.state !== 'held') {
    await deleteResolvedRequest(stores, job, reservation.request)
  }
}
