import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { postponeHold } from '#store/due-index.ts'
import { type HoldKey, readHoldItem } from '#store/relay-ledger/hold.ts'
import { RELAY_LIFETIME_MILLISECONDS } from '#store/relay-ledger/relay-reservation.ts'
import { releaseHold } from '#store/relay-ledger/release-hold.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import type { StepContext } from '../step-context.ts'

/**
 * Releases the hold of a process for relayed requests, once no reservation has renewed it for as long as any function runs, so that
 * none of its requests can be settled any more. A hold that was renewed is looked at again when its latest reservation is as old.
 * @param livingProcessId the only process that lives, on a local host. Its clock may jump, so that its open requests are never released
 * here: it settles them itself. Holds of all other processes are released at once.
 * @returns when the oldest request that the hold names was reserved, in milliseconds; undefined if nothing is open.
 */
export async function releaseLapsedHold(
  { table, nowMilliseconds }: Pick<StepContext, 'table' | 'nowMilliseconds'>,
  { tenantId, holdId }: HoldKey,
  livingProcessId?: string,
): Promise<number | undefined> {
  const item = await table.readItem(tableKeys.relayHold(tenantId, holdId))
  if (item === undefined) {
    return undefined
  }
  const hold = readHoldItem(item)
  const { renewedAt, requests } = hold
  const now = nowMilliseconds()
  const lapsesAt = renewedAt + RELAY_LIFETIME_MILLISECONDS
  const oldestAt = requests === 0 ? undefined : (hold.open[0]?.at ?? renewedAt)
  const isOwn = livingProcessId !== undefined && holdId.endsWith(livingProcessId)
  if (isOwn && requests > 0) {
    return oldestAt
  }
  if ((isOwn || livingProcessId === undefined) && now < lapsesAt) {
    await postponeHold(table, hold, lapsesAt)
  } else if ((await releaseHold(table, hold, now)) && requests > 0) {
    logger.warn('reservations of a process given back by reconcile', { tenantId, holdId, requests })
    for (let request = 0; request < requests; request += 1) {
      count('reservation_expired')
    }
  }
  return oldestAt
}
