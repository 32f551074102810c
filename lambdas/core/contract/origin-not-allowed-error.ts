import { HttpError } from '../errors.ts'

/** A script of another origin asks whether it may call a route, and may not. */
export class OriginNotAllowedError extends HttpError {
  override readonly name = 'OriginNotAllowedError'
  readonly statusCode = 403
  override readonly kind = { type: 'invalid_request_error', code: 'origin_not_allowed' }
  constructor() {
    super('this origin is not allowed: the operator lists the allowed origins in the configuration')
  }
}
