/** One step of the smoke test found the deployment wrong: what happened, and where to look. */
export class SmokeFailure extends Error {
  override readonly name = 'SmokeFailure'
  /** A sentence on where to look; undefined where the message says it all. */
  readonly lookAt: string | undefined

  constructor(message: string, lookAt?: string) {
    super(message)
    this.lookAt = lookAt
  }
}

/** Of any step: the clock runs for all of them together. */
export function outOfTime(): SmokeFailure {
  return new SmokeFailure('the time for the whole test is over', 'give more with --timeout-seconds')
}
