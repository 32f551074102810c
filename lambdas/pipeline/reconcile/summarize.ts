import { buildSummary } from '#adapters/store/console/build-summary.ts'
import { readSummary, writeSummary } from '#adapters/store/console/summary-store.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import type { StepContext } from '../step-context.ts'

/**
 * Writes the summary that the console shows of all tenants, where the stage has a console whose pages read it (`CONSOLE_SUMMARY` is
 * `stored`). It comes last and never fails a run: the pages are then a minute older.
 */
export async function summarize(
  { table, nowMilliseconds }: Pick<StepContext, 'table' | 'nowMilliseconds'>,
  hasTime: () => boolean,
): Promise<void> {
  if (process.env.CONSOLE_SUMMARY !== 'stored' || !hasTime()) {
    return
  }
  try {
    const previous = await readSummary(table)
    const next = await buildSummary(table, { previous, nowMilliseconds: nowMilliseconds(), hasTime })
    await writeSummary(table, next, previous)
  } catch (error) {
    logger.error('summary not written', { error: error instanceof Error ? error : undefined })
  }
}
