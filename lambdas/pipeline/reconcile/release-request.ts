import type { RequestKey } from '#adapters/store/money/due-index.ts'
import { RelayLedger } from '#adapters/store/money/relay-ledger.ts'
import { isExpired, readOpenRequest } from '#adapters/store/money/relay-reservation.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { count } from '#adapters/telemetry/count.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { StepContext } from '../step-context.ts'

/**
 * Releases reservations of relayed requests that can no longer be settled, because they are older than any function runs, or
 * than the process. Releases of one tenant share transactions, and a later settlement is refused.
 * @param startedAtMilliseconds requests older than this have ended, whatever their age.
 */
export function createRequestReleaser(
  context: Pick<StepContext, 'table' | 'nowMilliseconds' | 'pause'>,
  startedAtMilliseconds = Number.NEGATIVE_INFINITY,
): (request: RequestKey) => Promise<void> {
  // The next run repeats what this one could not do, so there is no patience with contention.
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
