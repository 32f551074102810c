import { type Summary, SummaryNotWrittenError } from '#core/admin/summary.ts'
import { buildSummary, readSummary } from '#store/summary.ts'
import type { ReadableTable, ReadSummary } from './read-context.ts'

/** A page asks several times at once, and again every few seconds. */
const KEPT_MILLISECONDS = 2_000

type SourceOptions = {
  readonly table: () => ReadableTable
  readonly now: () => number
  /**
   * Whether this process makes the summary itself, as on a local host, where it is then never older than seconds. Elsewhere
   * Reconcile writes it each minute.
   */
  readonly isLive: boolean
}

/** Requests that arrive together share one summary. */
export function summarySource({ table, now, isLive }: SourceOptions): ReadSummary {
  let kept: { readonly summary: Promise<Summary>; readonly at: number } | undefined
  let latest: Summary | undefined
  const read = async () => {
    const summary = isLive
      ? await buildSummary(table(), { previous: latest, nowMilliseconds: now() })
      : await readSummary(table())
    if (summary === undefined) {
      throw new SummaryNotWrittenError()
    }
    latest = summary
    return summary
  }
  return () => {
    if (kept === undefined || now() - kept.at > KEPT_MILLISECONDS) {
      const summary = read()
      kept = { summary, at: now() }
      summary.catch(() => {
        kept = undefined
      })
    }
    return kept.summary
  }
}
