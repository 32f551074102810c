import type { NearBudget } from '#core/admin/summary.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { buildSummary, keepNearBudgets, readSummary, writeSummary } from '#store/summary.ts'
import type { StepContext } from '../step-context.ts'

type Context = Pick<StepContext, 'table' | 'nowMilliseconds'>

type SummarizeOptions = {
  /** Budgets of keys that are nearly spent, as this run found them; undefined if it did not examine all. */
  readonly near: readonly NearBudget[] | undefined
  readonly hasTime: () => boolean
}

/**
 * Writes what the console shows of all tenants, where the stage has a console: the budgets that need a person, and the summary if pages
 * read it (`CONSOLE_SUMMARY` is `stored`, and not `live`). It comes last and never fails a run: the pages are then a minute older.
 */
export async function summarize(context: Context, { near, hasTime }: SummarizeOptions): Promise<void> {
  const mode = process.env.CONSOLE_SUMMARY
  if (mode === undefined) {
    return
  }
  if (!hasTime()) {
    report('the run has no time left')
    return
  }
  try {
    if (near !== undefined) {
      await keepNearBudgets(context.table, near)
    }
    if (mode === 'stored') {
      await storeSummary(context, hasTime)
    }
  } catch (error) {
    report(error)
  }
}

async function storeSummary({ table, nowMilliseconds }: Context, hasTime: () => boolean): Promise<void> {
  const previous = await readSummary(table)
  const next = await buildSummary(table, { previous, nowMilliseconds: nowMilliseconds(), hasTime })
  await writeSummary(table, next, previous)
}

function report(cause: unknown): void {
  const facts = cause instanceof Error ? { error: cause } : { reason: String(cause) }
  logger.error('summary not written', facts)
  count('summary_not_written')
}
