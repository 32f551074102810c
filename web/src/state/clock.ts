import { createStore } from './store.ts'

/** Times on the page are relative to this. Unix seconds; moves on while the page is visible. */
export const clock = createStore(unixSeconds())

const STEP_MILLISECONDS = 15_000

/** The current Unix time in seconds. */
export function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** Moves the clock on, and at once when a hidden page is shown again. */
export function startClock(): void {
  const step = () => {
    if (document.visibilityState === 'visible') {
      clock.set(unixSeconds())
    }
  }
  setInterval(step, STEP_MILLISECONDS)
  document.addEventListener('visibilitychange', step)
}
