/** A response did not arrive whole. `reason` is an error code or a fixed phrase, and never holds a part of the response. */
export class ResponseBrokenError extends Error {
  override readonly name = 'ResponseBrokenError'
  readonly reason: string
  constructor(reason: string) {
    super(`the response broke off: ${reason}`)
    this.reason = reason
  }
}
