import { HttpError } from '../errors.ts'

/** The state of a job does not allow the request. The message says why, and no retry changes that. */
export class VideoJobConflictError extends HttpError {
  override readonly name = 'VideoJobConflictError'
  readonly statusCode = 409
}
