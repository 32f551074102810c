/** A step of the smoke test failed. */
export class SmokeFailure extends Error {
  override readonly name = 'SmokeFailure'
  /** Where to look; undefined if the message suffices. */
  readonly lookAt: string | undefined

  constructor(message: string, lookAt?: string) {
    super(message)
    this.lookAt = lookAt
  }
}

/** The failure of the step that runs when the time of the whole test is over. */
export function outOfTime(): SmokeFailure {
  return new SmokeFailure('the time limit of the whole test is over', 'raise the limit with --timeout-seconds')
}
