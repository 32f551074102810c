/** As on AWS (the schedule of `lib/aws/reconcile-schedule.ts`). */
const RECONCILE_MILLISECONDS = 60_000

/**
 * Reconciles everything now, because every execution ended with the last process, and then every minute. A run that fails is made good by the
 * next one.
 * @param processId of this process, in the ids of its holds: what others hold has ended with them, whatever the clock says.
 * @returns ends it, and resolves when the last run has ended.
 */
export function startReconciling(
  reconcile: (event: object) => Promise<unknown>,
  processId: string,
): () => Promise<void> {
  const run = (all: boolean) =>
    reconcile({
      source: 'reelgate.local',
      'detail-type': 'Scheduled',
      detail: { all, process: processId },
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
