import { outOfTime, SmokeFailure } from './smoke-failure.ts'

/** How one step went. */
export type StepVerdict = {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly milliseconds: number
  /** What was found, or what is wrong; never the key. */
  readonly text: string
  /** Where to look, of a failed step. */
  readonly lookAt?: string
}

/** Sees the test while it runs. */
export type SmokeObserver = {
  /** Before money is spent. */
  announce(text: string): void
  progress(status: string): void
  end(step: StepVerdict): void
}

/** What a step found: a value for later steps and a text for people. */
export type StepResult<Value> = { readonly value: Value; readonly text: string }

/** Runs steps one after the other and keeps their verdicts; a failure is a verdict, not an exception. */
export class StepRunner {
  readonly steps: StepVerdict[] = []
  readonly #observer: SmokeObserver
  readonly #secret: string

  constructor(observer: SmokeObserver, secret: string) {
    this.#observer = observer
    this.#secret = secret
  }

  /** Undefined when the step failed, or could not run because `work` is undefined: a step before it failed. */
  async step<Value>(name: string, work: (() => Promise<StepResult<Value>>) | undefined): Promise<Value | undefined> {
    if (work === undefined) {
      this.#end({ name, verdict: 'skipped', milliseconds: 0, text: 'a step before it failed' })
      return undefined
    }
    const startedAt = performance.now()
    const lasted = () => Math.round(performance.now() - startedAt)
    try {
      const { value, text } = await work()
      this.#end({ name, verdict: 'passed', milliseconds: lasted(), text })
      return value
    } catch (error) {
      this.#end({ name, verdict: 'failed', milliseconds: lasted(), ...describe(error) })
      return undefined
    }
  }

  #end(step: StepVerdict): void {
    const said = { ...step, text: step.text.replaceAll(this.#secret, '[key]') }
    this.steps.push(said)
    this.#observer.end(said)
  }
}

function describe(error: unknown): Pick<StepVerdict, 'text' | 'lookAt'> {
  if (error instanceof SmokeFailure) {
    return { text: error.message, ...(error.lookAt === undefined ? {} : { lookAt: error.lookAt }) }
  }
  // What ends a request in the middle of its body is no Error of ours.
  if (Object(error).name === 'TimeoutError') {
    return describe(outOfTime())
  }
  return { text: error instanceof Error ? `the answer broke off: ${error.message}` : String(error) }
}
