/** Errors that a client sees, and errors that end a video job. One class per cause; only the error middleware maps to HTTP. */

/** What is wrong with one member of a request. `path` is dotted, empty for the body as a whole. */
export type RequestIssue = { readonly path: string; readonly message: string }

/** Base of everything that becomes a 4xx or 5xx with a public text. `message` is the public text. */
export abstract class HttpError extends Error {
  abstract readonly statusCode: number
  /** Seconds for `Retry-After`, where trying again helps. */
  readonly retryAfterSeconds: number | undefined = undefined
}

export class InvalidRequestError extends HttpError {
  override readonly name = 'InvalidRequestError'
  readonly statusCode = 400
  readonly issues: readonly RequestIssue[]
  constructor(issues: readonly RequestIssue[]) {
    super('invalid request body')
    this.issues = issues
  }
}

export class InvalidApiKeyError extends HttpError {
  override readonly name = 'InvalidApiKeyError'
  readonly statusCode = 401
  constructor() {
    super('invalid api key')
  }
}

export class InsufficientQuotaError extends HttpError {
  override readonly name = 'InsufficientQuotaError'
  readonly statusCode = 402
  constructor() {
    super('insufficient quota for this video generation')
  }
}

/** Unknown, deleted, malformed and other tenants' ids alike: the answer never tells which. */
export class VideoJobNotFoundError extends HttpError {
  override readonly name = 'VideoJobNotFoundError'
  readonly statusCode = 404
  constructor() {
    super('video job not found')
  }
}

export class RouteNotFoundError extends HttpError {
  override readonly name = 'RouteNotFoundError'
  readonly statusCode = 404
  constructor() {
    super('not found')
  }
}

export class MethodNotAllowedError extends HttpError {
  override readonly name = 'MethodNotAllowedError'
  readonly statusCode = 405
  readonly allowedMethods: readonly string[]
  constructor(allowedMethods: readonly string[]) {
    super('method not allowed')
    this.allowedMethods = allowedMethods
  }
}

export class IdempotencyKeyReusedError extends HttpError {
  override readonly name = 'IdempotencyKeyReusedError'
  readonly statusCode = 409
  constructor() {
    super('idempotency key reused with a different body')
  }
}

export class RequestBodyTooLargeError extends HttpError {
  override readonly name = 'RequestBodyTooLargeError'
  readonly statusCode = 413
  constructor() {
    super('request body too large')
  }
}

/** The table stayed contended or throttled through every bounded try; nothing was written. */
export class ServiceUnavailableError extends HttpError {
  override readonly name = 'ServiceUnavailableError'
  readonly statusCode = 503
  override readonly retryAfterSeconds = 1
  constructor(options?: ErrorOptions) {
    super('service unavailable', options)
  }
}
