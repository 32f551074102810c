import { outOfTime, SmokeFailure } from './smoke-failure.ts'

/** The outcome of one step. */
export type StepVerdict = {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'skipped'
  readonly milliseconds: number
  /** The result or the failure; never the key. */
  readonly text: string
  /** Where to look after a failure. */
  readonly lookAt?: string
}

/** Receives progress while the test runs. */
export type SmokeObserver = {
  /** Called before money is spent. */
  announce(text: string): void
  progress(status: string): void
  end(step: StepVerdict): void
}

/** The result of a step: a value for later steps, and a string for the report. */
export type StepResult<Value> = { readonly value: Value; readonly text: string }

/** Runs steps one after the other and records their verdicts. A failure becomes a verdict, not an exception. */
export class StepRunner {
  readonly steps: StepVerdict[] = []
  readonly #observer: SmokeObserver
  readonly #secret: string

  constructor(observer: SmokeObserver, secret: string) {
    this.#observer = observer
    this.#secret = secret
  }

  /** Returns undefined if the step failed, or was skipped because `work` is undefined after an earlier failure. */
  async step<Value>(name: string, work: (() => Promise<StepResult<Value>>) | undefined): Promise<Value | undefined> {
    if (work === undefined) {
      this.#end({ name, verdict: 'skipped', milliseconds: 0, text: 'an earlier step failed' })
      return undefined
    }
    const startedAt = performance.now()
    const elapsed = () => Math.round(performance.now() - startedAt)
    try {
      const { value, text } = await work()
      this.#end({ name, verdict: 'passed', milliseconds: elapsed(), text })
      return value
    } catch (error) {
      this.#end({ name, verdict: 'failed', milliseconds: elapsed(), ...describe(error) })
      return undefined
    }
  }

  #end(step: StepVerdict): void {
    const redacted = { ...step, text: step.text.replaceAll(this.#secret, '[key]') }
    this.steps.push(redacted)
    this.#observer.end(redacted)
  }
}

function describe(error: unknown): Pick<StepVerdict, 'text' | 'lookAt'> {
  if (error instanceof SmokeFailure) {
    return { text: error.message, ...(error.lookAt === undefined ? {} : { lookAt: error.lookAt }) }
  }
  // The signal ends the read of a body with a TimeoutError.
  if (Object(error).name === 'TimeoutError') {
    return describe(outOfTime())
  }
  return { text: error instanceof Error ? `the response ended early: ${error.message}` : String(error) }
}
