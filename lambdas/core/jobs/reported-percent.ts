/** The largest percentage that an upstream has reported for an open job. */
export type ReportedPercent = {
  readonly percent: number
  /** Unix seconds of the poll that brought the first report; absent if the reply to the submit brought one. */
  readonly since?: number | undefined
}

/**
 * The report to keep after a reply that says a percentage.
 * @param percent from 0 to 100.
 * @param since left out for the reply to the submit.
 */
export function withReportedPercent(
  known: ReportedPercent | undefined,
  percent: number,
  since?: number,
): ReportedPercent {
  if (known !== undefined) {
    return { ...known, percent: Math.max(known.percent, percent) }
  }
  return since === undefined ? { percent } : { percent, since }
}
