/** One try to deliver the callback of a job. */
export type CallbackAttempt = {
  /** Unix seconds. */
  readonly at: number
  /** From 1. */
  readonly attempt: number
  /** HTTP status of the receiver; absent without a response. */
  readonly status?: number | undefined
  readonly milliseconds: number
  /** Why the callback was not delivered. */
  readonly error?: string | undefined
  readonly delivered: boolean
}
