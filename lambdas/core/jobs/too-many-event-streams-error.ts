import { HttpError } from '../errors.ts'

/** About the time of a poll: another stream may have ended. */
const EVENT_STREAMS_RETRY_SECONDS = 10

/** The key has as many open streams of events as it may have. */
export class TooManyEventStreamsError extends HttpError {
  override readonly name = 'TooManyEventStreamsError'
  readonly statusCode = 429
  override readonly retryAfterSeconds = EVENT_STREAMS_RETRY_SECONDS
  constructor() {
    super('too many event streams')
  }
}
