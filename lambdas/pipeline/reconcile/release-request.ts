import type { RequestKey } from '#adapters/store/money/due-index.ts'
import {
  isExpired,
  readEarlierReservation,
  releaseEarlierReservation,
} from '#adapters/store/money/earlier-reservation.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { StepContext } from '../step-context.ts'

/**
 * Releases a reservation that version 0.2.0 made for a relayed request, once the request can no longer be settled: it is older than
 * any function runs, or than the process.
 * @param isLeft whether its process has ended for certain, whatever the age of the request: no process that lives makes such reservations.
 */
export async function releaseRequest(
  { table, nowMilliseconds }: Pick<StepContext, 'table' | 'nowMilliseconds'>,
  { tenantId, requestId }: RequestKey,
  isLeft = false,
): Promise<void> {
  const item = await table.readItem(tableKeys.requestReservation(tenantId, requestId))
  if (item === undefined) {
    return
  }
  const reservation = readEarlierReservation(item)
  const now = nowMilliseconds()
  const isGone = isLeft || isExpired(reservation, now)
  if (isGone && (await releaseEarlierReservation(table, reservation, now))) {
    logger.warn('reservation given back by reconcile', { requestId, tenantId })
    count('reservation_expired')
  }
}
