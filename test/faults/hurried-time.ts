type Timeout = typeof AbortSignal.timeout

/**
 * Lets the limits of the product, which stand in whole seconds, pass `factor` times as fast while `run` runs: timers, abort
 * timeouts and the monotonic clock. The shipped limits are what is tested then, without waiting for them.
 */
export async function hurried<Result>(factor: number, run: () => Promise<Result>): Promise<Result> {
  const realTimer = globalThis.setTimeout
  const realTimeout: Timeout = AbortSignal.timeout.bind(AbortSignal)
  const realNow = performance.now.bind(performance)
  const began = realNow()
  const hurriedTimer = (callback: (...values: unknown[]) => void, milliseconds = 0, ...values: unknown[]) =>
    realTimer(callback, milliseconds / factor, ...values)
  Object.assign(globalThis, { setTimeout: hurriedTimer })
  AbortSignal.timeout = (milliseconds) => realTimeout(Math.ceil(milliseconds / factor))
  performance.now = () => began + (realNow() - began) * factor
  try {
    return await run()
  } finally {
    Object.assign(globalThis, { setTimeout: realTimer })
    AbortSignal.timeout = realTimeout
    performance.now = realNow
  }
}
