/** As on AWS (the schedule of `lib/aws/reconcile-schedule.ts`). */
const RECONCILE_MILLISECONDS = 60_000

/** Work that was reserved before this has ended. Unix time in milliseconds. */
const PROCESS_STARTED_AT = Math.trunc(performance.timeOrigin)

/**
 * Reconciles everything now, because every execution ended with the last process, and then every minute. A run that fails is made good by the
 * next one.
 * @returns ends it, and resolves when the last run has ended.
 */
export function startReconciling(reconcile: (event: object) => Promise<unknown>): () => Promise<void> {
  const run = (all: boolean) =>
    reconcile({
      source: 'reelgate.local',
      'detail-type': 'Scheduled',
      detail: { all, startedAt: PROCESS_STARTED_AT },
    }).catch(() => undefined)
  let running: Promise<unknown> = run(true)
  const timer = setInterval(() => {
    running = run(false)
  }, RECONCILE_MILLISECONDS)
  return async () => {
    clearInterval(timer)
    await running
  }
}
