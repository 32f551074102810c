/** Reconcile writes the summary each minute: one that is older than this was not written, or the page was not loaded again. */
const STALE_SECONDS = 5 * 60

/** Minutes since numbers were summed, if they are too old to be trusted; undefined for fresh ones. Times are Unix seconds. */
export function staleMinutes(asOf: number | null, now: number): number | undefined {
  const age = asOf === null ? 0 : now - asOf
  return age > STALE_SECONDS ? Math.floor(age / 60) : undefined
}
