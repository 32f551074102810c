import { HttpError } from '../errors.ts'

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
