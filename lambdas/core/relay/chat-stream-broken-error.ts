/** An upstream reported an error inside its stream, or ended it with completions cut off. */
export class ChatStreamBrokenError extends Error {
  override readonly name = 'ChatStreamBrokenError'
  /** The upstream's own error event, as JSON text, where it sent one. */
  readonly payload: string | undefined
  constructor(payload?: string, options?: ErrorOptions) {
    const message =
      payload === undefined ? 'the upstream broke off its stream' : 'the upstream reported an error in its stream'
    super(message, options)
    this.payload = payload
  }
}
