import { HttpError } from '../errors.ts'

/** The request has no session that is valid now; the response does not tell why. */
export class NotSignedInError extends HttpError {
  override readonly name = 'NotSignedInError'
  readonly statusCode = 401
  override readonly kind = { type: 'invalid_request_error', code: 'not_signed_in' }
  constructor() {
    super('sign in, or send an admin key as `Authorization: Bearer`: the request has no valid session')
  }
}

/** The request has a bearer that is no admin key that works; the response does not tell why. */
export class AdminKeyRefusedError extends HttpError {
  override readonly name = 'AdminKeyRefusedError'
  readonly statusCode = 401
  override readonly kind = { type: 'invalid_request_error', code: 'invalid_admin_key' }
  constructor() {
    super('this is no admin key that works: `Authorization` takes `Bearer rg_admin_...`')
  }
}

/** The key or link does not sign in: unknown, mistyped, used, over, revoked or suspended; the response does not tell which. */
export class SignInRefusedError extends HttpError {
  override readonly name = 'SignInRefusedError'
  readonly statusCode = 401
  override readonly kind = { type: 'invalid_request_error', code: 'sign_in_refused' }
  constructor() {
    super('this key or link does not sign in: check it, or ask for a new one')
  }
}

/** An address failed to sign in, or showed wrong admin keys, too often. */
export class TooManySignInsError extends HttpError {
  override readonly name = 'TooManySignInsError'
  readonly statusCode = 429
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super(`too many failed sign-ins from this address: wait ${retryAfterSeconds} s`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** One key or user of the console did something too often. */
export class HolderRateExceededError extends HttpError {
  override readonly name = 'HolderRateExceededError'
  readonly statusCode = 429
  override readonly retryAfterSeconds: number
  /** @param what in the plural, such as `sign-ins`. */
  constructor(what: string, retryAfterSeconds: number) {
    super(`too many ${what} of this key or user: wait ${retryAfterSeconds} s`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** No session that this user may end has this id. */
export class SessionNotFoundError extends HttpError {
  override readonly name = 'SessionNotFoundError'
  readonly statusCode = 404
  constructor() {
    super('session not found')
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

/** What a request of the console names does not exist. The message says what. */
export class AdminNotFoundError extends HttpError {
  override readonly name = 'AdminNotFoundError'
  readonly statusCode = 404
}

/** The state of the target refuses the change, or somebody else changed it at the same time. Nothing was changed. */
export class AdminConflictError extends HttpError {
  override readonly name = 'AdminConflictError'
  readonly statusCode = 409
  override readonly kind: { readonly type: string; readonly code: string; readonly param?: string }

  /** @param code for programs, such as `rotated_already`. @param param the field that would permit the change, if there is one. */
  constructor(message: string, code: string, { param, ...options }: ErrorOptions & { readonly param?: string } = {}) {
    super(message, options)
    this.kind = { type: 'invalid_request_error', code, ...(param === undefined ? {} : { param }) }
  }
}
