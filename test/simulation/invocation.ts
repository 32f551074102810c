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
