import type { RequestKey } from '#adapters/store/money/due-index.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { isExpired, readOpenRequest } from '#adapters/store/money/relay-reservation.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { StepContext } from '../step-context.ts'

/**
 * Gives back the reservations of relayed requests that nobody settles any more: they are older than any function lives, or
 * than the process they were made in. Those of one tenant go together, and a settlement that comes after all is turned away.
 * @param startedAtMilliseconds requests older than this are gone, whatever their age.
 */
export function createRequestReleaser(
  context: Pick<StepContext, 'table' | 'nowMilliseconds' | 'pause'>,
  startedAtMilliseconds = Number.NEGATIVE_INFINITY,
): (request: RequestKey) => Promise<void> {
  // A later run comes back to what this one could not do, so nothing is waited for here.
  const ledger = new RelayLedger(context.table, { clock: context, patienceMilliseconds: 0 })
  return async ({ tenantId, requestId }) => {
    const item = await context.table.readItem(tableKeys.requestReservation(tenantId, requestId))
    const request = item === undefined ? undefined : readOpenRequest(item)
    const isGone =
      request !== undefined &&
      (request.reservedAt < startedAtMilliseconds || isExpired(request, context.nowMilliseconds()))
    if (isGone && (await ledger.resolve(request, { kind: 'release' })) === 'resolved') {
      logger.warn('reservation given back by reconcile', { requestId, tenantId })
      count('reservation_expired')
    }
  }
}
