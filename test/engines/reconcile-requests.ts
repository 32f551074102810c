import { systemClock } from '#adapters/clock.ts'
import { readVideoResult } from '#adapters/providers/read-video-result.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { reconcile } from '#lambdas/pipeline/reconcile/reconcile.ts'
import type { Table } from '#store/table/table.ts'

/** Longer than Reconcile leaves the hold of a process that no longer renews it. */
const LAPSED_MILLISECONDS = 17 * 60_000

/** One run of Reconcile over a table without video jobs. @param isLast all processes ended long ago. */
export async function reconcileRequests(table: Table, catalogue: Catalogue, { isLast = false } = {}): Promise<void> {
  // What the runs log and count is no part of the findings.
  logger.setLogLevel('SILENT')
  process.env.POWERTOOLS_METRICS_DISABLED = 'true'
  const unused = () => Promise.reject(new TypeError('the traffic has no videos'))
  const nowMilliseconds = () => Date.now() + (isLast ? LAPSED_MILLISECONDS : 0)
  const context = {
    ...systemClock,
    nowMilliseconds,
    random: Math.random,
    table,
    catalogue,
    openBucket: () => {
      throw new TypeError('the traffic has no videos')
    },
    openProvider: unused,
    readResult: readVideoResult,
  }
  await reconcile(context, { all: false })
}
