import { AsyncResource } from 'node:async_hooks'
import type { Scheduler } from './scheduler.ts'

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout }

/** The product's own waits are shorter; longer timers watch over connections, which answer at once or never here: they never go off. */
const WAIT_MILLISECONDS_MAX = 1_000

let present: Scheduler | undefined

/** A timer in the time of a history. Nothing keeps a process alive there, so `ref` and `unref` change nothing. */
class VirtualTimer {
  readonly stop: () => void

  constructor(stop: () => void) {
    this.stop = stop
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  /** Only timers over connections are started again, and these never go off. */
  refresh(): this {
    return this
  }
}

/** From now on timers that are set within an invocation belong to this history; all others are real. */
export function useTimersOf(scheduler: Scheduler): void {
  present = scheduler
}

/** Puts the process's timers behind {@link useTimersOf}; once per process. */
export function mockTimers(): void {
  const setTimeout = (go: () => void, milliseconds = 0, ...rest: unknown[]) => {
    if (present?.current() === undefined) {
      return Reflect.apply(real.setTimeout, globalThis, [go, milliseconds, ...rest])
    }
    const isWait = milliseconds <= WAIT_MILLISECONDS_MAX
    return new VirtualTimer(isWait ? present.startTimer(milliseconds, AsyncResource.bind(go)) : () => {})
  }
  const clearTimeout = (timer: unknown) =>
    timer instanceof VirtualTimer ? timer.stop() : Reflect.apply(real.clearTimeout, globalThis, [timer])
  Object.assign(globalThis, { setTimeout, clearTimeout })
  // How fast the machine is must not decide what happens in a history.
  const { timeout } = AbortSignal
  AbortSignal.timeout = (milliseconds) =>
    present?.current() === undefined ? timeout.call(AbortSignal, milliseconds) : new AbortController().signal
  const now = performance.now.bind(performance)
  performance.now = () => (present?.current() === undefined ? now() : present.nowMilliseconds())
}
