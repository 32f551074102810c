import { HttpError } from '../errors.ts'

/** The request has no session that is valid now; the response does not tell why. */
export class NotSignedInError extends HttpError {
  override readonly name = 'NotSignedInError'
  readonly statusCode = 401
  override readonly kind = { type: 'invalid_request_error', code: 'not_signed_in' }
  constructor() {
    super('sign in: the request has no valid session')
  }
}

/** The session may not call this operation, or not for this tenant. */
export class ForbiddenError extends HttpError {
  override readonly name = 'ForbiddenError'
  readonly statusCode = 403
  override readonly kind = { type: 'invalid_request_error', code: 'forbidden' }
}

/** The request may come from a page of another site. */
export class CrossSiteError extends HttpError {
  override readonly name = 'CrossSiteError'
  readonly statusCode = 403
  override readonly kind = { type: 'invalid_request_error', code: 'cross_site_request' }
}

/** The operation is in the contract and this version does not have it. */
export class NotImplementedError extends HttpError {
  override readonly name = 'NotImplementedError'
  readonly statusCode = 501
  override readonly kind = { type: 'server_error', code: 'not_implemented' }
  constructor(operation: string) {
    super(`${operation} is not implemented`)
  }
}
