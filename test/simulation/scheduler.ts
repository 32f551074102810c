import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { seededRandom } from '../engines/seeded-random.ts'

/** One run of a function. Once dead it never goes on; once lost it goes on, and its caller has given it up. */
export class Invocation {
  isDead = false
  /** Milliseconds. */
  frozenUntil = 0
  readonly givenUp = Promise.withResolvers<never>()

  constructor() {
    this.givenUp.promise.catch(() => {})
  }

  crash(error: Error): void {
    this.isDead = true
    this.givenUp.reject(error)
  }

  lose(error: Error): void {
    this.givenUp.reject(error)
  }
}

/** A process that serves many callers at a time: it ends for all of them, and none of them can give it up. */
export class SharedInvocation extends Invocation {
  override lose(): void {}
}

/** Turns of the event loop without any news after which nothing is under way any more. */
const QUIET_TURNS = 6

/** One request that goes on may take this long; now and then time passes although requests are on their way. */
const REQUEST_MILLISECONDS_MAX = 40
const TIMER_FIRST = 0.06

type Waiting = { readonly label: string; readonly owner: Invocation | undefined; readonly go: () => void }
type Timer = Waiting & { readonly at: number }

/** A frozen process has no turn and no timer until it wakes. */
function isFrozen({ owner }: Waiting, now: number): boolean {
  return owner !== undefined && owner.frozenUntil > now
}

/**
 * Runs everything that happens in one history, one request at a time, in an order that a seed decides. Whoever wants to
 * leave its process waits at a gate; the scheduler lets one pass, waits until all that follows has come to rest at gates
 * again, and goes on. Time passes only here.
 */
export class Scheduler {
  readonly random: () => number
  readonly trace: string[] = []
  /** Timers may go off while requests are still on their way, as with a slow network. */
  isHasty = true
  #now: number
  #waiting: Waiting[] = []
  #timers: Timer[] = []
  readonly #underWay = new Set<Promise<unknown>>()
  #news = 0
  readonly #invocations = new AsyncLocalStorage<Invocation>()

  constructor(seed: number, startMilliseconds: number) {
    this.random = seededRandom(seed)
    this.#now = startMilliseconds
  }

  readonly nowMilliseconds = (): number => this.#now

  readonly pause = (milliseconds: number): Promise<void> =>
    new Promise((go) => {
      this.startTimer(milliseconds, go)
    })

  /** @returns what stops the timer. */
  startTimer(milliseconds: number, go: () => void): () => void {
    const timer = { label: 'pause', owner: this.current(), at: this.#now + milliseconds, go }
    this.#news += 1
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer)
    }
  }

  /** A process does nothing for a while, with its requests on their way, and then goes on. */
  freeze(process: Invocation, milliseconds: number): void {
    process.frozenUntil = this.#now + milliseconds
    // Time comes to the end of the freeze even when nobody else waits for anything.
    this.spawn(() => this.pause(milliseconds))
  }

  gate(label: string): Promise<void> {
    return new Promise((go) => {
      this.#news += 1
      this.#waiting.push({ label, owner: this.current(), go })
    })
  }

  /** Says that real work goes on, so that rest is not mistaken for the end of it. */
  async track<Result>(work: Promise<Result>): Promise<Result> {
    this.#underWay.add(work)
    try {
      return await work
    } finally {
      this.#underWay.delete(work)
      this.#news += 1
    }
  }

  current(): Invocation | undefined {
    return this.#invocations.getStore()
  }

  /** Runs a function as one invocation, which may crash or be lost at any gate, or as part of one that serves several callers. */
  invoke<Result>(body: () => Promise<Result>, invocation = new Invocation()): Promise<Result> {
    return this.#invocations.run(invocation, () => Promise.race([body(), invocation.givenUp.promise]))
  }

  /** Runs something that is no invocation: a client, an execution. */
  spawn(body: () => Promise<void>): void {
    this.#invocations.exit(() => void body())
  }

  jump(milliseconds: number): void {
    this.#now += milliseconds
  }

  /** Lets one waiting request or timer go on. @returns false when nobody waits for anything. */
  async step(): Promise<boolean> {
    this.#waiting = this.#waiting.filter(({ owner }) => owner?.isDead !== true)
    this.#timers = this.#timers.filter(({ owner }) => owner?.isDead !== true)
    const timer =
      this.#waiting.every((waiting) => isFrozen(waiting, this.#now)) || (this.isHasty && this.random() < TIMER_FIRST)
        ? this.#takeTimer()
        : undefined
    const next = timer ?? this.#takeWaiting()
    if (next === undefined) {
      return false
    }
    this.trace.push(next.label)
    next.go()
    await this.rest()
    return true
  }

  #takeTimer(): Timer | undefined {
    const due = ({ at, owner }: Timer) => Math.max(at, owner?.frozenUntil ?? 0)
    const first = this.#timers.toSorted((left, right) => due(left) - due(right))[0]
    if (first !== undefined) {
      this.#timers = this.#timers.filter((timer) => timer !== first)
      this.#now = Math.max(this.#now, due(first))
    }
    return first
  }

  #takeWaiting(): Waiting | undefined {
    const ready = this.#waiting.filter((waiting) => !isFrozen(waiting, this.#now))
    const next = ready[Math.floor(this.random() * ready.length)]
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next)
    this.#now += 1 + Math.floor(this.random() * REQUEST_MILLISECONDS_MAX)
    return next
  }

  /** Waits until everything under way has come to gates or timers. */
  async rest(): Promise<void> {
    let news = -1
    for (let quiet = 0; quiet < QUIET_TURNS; quiet += 1) {
      while (this.#underWay.size > 0) {
        await Promise.allSettled(this.#underWay)
      }
      await new Promise((resolve) => setImmediate(resolve))
      if (news !== this.#news) {
        news = this.#news
        quiet = 0
      }
    }
  }
}

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
