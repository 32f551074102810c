import { ServiceUnavailableError } from '#core/errors.ts'
import type { Clock } from '../../clock.ts'
import { logger } from '../../telemetry/logger.ts'
import { type OpenBucket, putText } from '../bucket/video-bucket.ts'
import { ConditionsNotMetError } from '../table/conditions-not-met-error.ts'
import type { Table } from '../table/table.ts'
import { tableKeys } from '../table/table-keys.ts'
import { announceRequest, dropAnnouncedRequest, takeAnnouncedRequest } from './announced-request.ts'
import { foreseeRefusal } from './balance-refusal.ts'
import type { TenantBudgets } from './known-budgets.ts'
import type { NewVideoJob } from './new-video-job.ts'
import { IdempotencyKeyTakenError, reserveQuota } from './reserve-quota.ts'

type ReserveContext = Pick<Clock, 'nowMilliseconds'> & {
  readonly table: Table
  readonly openBucket: OpenBucket
  readonly tenantBudgets?: TenantBudgets | undefined
}

/**
 * Reserves, and stores the request. A small request goes into the reservation itself. A large one goes to the bucket first, so
 * that no job is without its request, but only after a look at the balance, and is deleted when the reservation is refused.
 * @throws what {@link reserveQuota} throws; ServiceUnavailableError when Reconcile dropped the request of a create that was slow.
 */
export async function reserveWithRequest(
  context: ReserveContext,
  job: NewVideoJob,
  requestText: string,
): Promise<void> {
  const { table, openBucket, tenantBudgets } = context
  if ('inline' in job.request) {
    return await reserveQuota(table, job, { tenantBudgets })
  }
  await requireChance(table, job)
  const { bucketKey } = job.request
  await announceRequest(table, job, { bucketKey, nowMilliseconds: context.nowMilliseconds() })
  // A put that failed may still arrive, so its object is left to Reconcile, which comes later.
  await putText(await openBucket(), bucketKey, requestText)
  try {
    await reserveQuota(table, job, { tenantBudgets, announcement: takeAnnouncedRequest(job) })
  } catch (error) {
    await dropOrLeaveToReconcile(context, job)
    const isOnlyDropped = error instanceof ConditionsNotMetError && error.failed.has('announcement')
    throw isOnlyDropped ? new ServiceUnavailableError({ cause: error }) : error
  }
}

/** @throws what the transaction would throw now. A repeat is recognised before funds are judged, as in the transaction. */
async function requireChance(table: Table, job: NewVideoJob): Promise<void> {
  const { tenantId, idempotency, createdAt, budget } = job
  const [balance, keyBudget, taken] = await Promise.all([
    table.readItem(tableKeys.balance(tenantId)),
    budget === undefined ? undefined : table.readItem(tableKeys.keyBudget(budget.id)),
    idempotency === undefined ? undefined : table.readItem(tableKeys.idempotency(tenantId, idempotency.digest)),
  ])
  if (taken !== undefined && Number(taken.ttl) > createdAt) {
    throw new IdempotencyKeyTakenError('the idempotency key was used before')
  }
  const refusal = foreseeRefusal(job, { balance, keyBudget })
  if (refusal !== undefined) {
    throw refusal
  }
}

/** Keeps the request of a reservation that was made although its response was lost. */
async function dropOrLeaveToReconcile(context: ReserveContext, job: NewVideoJob): Promise<void> {
  try {
    await dropAnnouncedRequest(context, job)
  } catch (error) {
    logger.warn('request of a refused job not deleted; reconcile will', {
      tenantId: job.tenantId,
      jobId: job.jobId,
      error: error instanceof Error ? error : undefined,
    })
  }
}
