import { setTimeout } from 'node:timers/promises'

/** As long as a test waits for something that should be there already, on a machine that is busy with something else. */
const TIMEOUT_MILLISECONDS = 60_000
const INTERVAL_MILLISECONDS = 50

/** Asks again until the answer is true, or anything like it. @throws Error when that takes too long. */
export async function waitUntil<Answer>(
  ask: () => Answer | Promise<Answer>,
  { timeout = TIMEOUT_MILLISECONDS, interval = INTERVAL_MILLISECONDS }: { timeout?: number; interval?: number } = {},
): Promise<Answer> {
  const end = performance.now() + timeout
  for (;;) {
    const answer = await ask()
    if (answer) {
      return answer
    }
    if (performance.now() > end) {
      throw new Error(`still not true after ${timeout} ms`)
    }
    await setTimeout(interval)
  }
}
