/** Errors that a client sees, and errors that end a video job. One class per cause; only the error middleware maps to HTTP. */

import type { Shortfall } from './money/shortfall.ts'

/** What is wrong with one member of a request. `path` is dotted, empty for the body as a whole. */
export type RequestIssue = { readonly path: string; readonly message: string }

/** Base of everything that becomes a 4xx or 5xx with a public text. `message` is the public text. */
export abstract class HttpError extends Error {
  abstract readonly statusCode: number
  /** Seconds for `Retry-After`, where trying again helps. */
  readonly retryAfterSeconds: number | undefined = undefined
  /** Members of the OpenAI shape that the status alone does not tell. */
  readonly kind: ErrorKind | undefined = undefined
  /** `false` tells SDKs, which try some statuses again by themselves, that a second try could be billed too. */
  readonly shouldRetry: false | undefined = undefined
}

/** `type`, `code` and `param` of the OpenAI error shape. */
export type ErrorKind = { readonly type: string; readonly code: string | null; readonly param?: string }

/** The request breaks a rule of the contract or a limit of its model; `issues` says which. */
export class InvalidRequestError extends HttpError {
  override readonly name = 'InvalidRequestError'
  readonly statusCode = 400
  readonly issues: readonly RequestIssue[]
  constructor(issues: readonly RequestIssue[]) {
    super('invalid request body')
    this.issues = issues
  }
}

/** No key, an unknown one, or one that is revoked, expired or suspended: the answer never tells which. */
export class InvalidApiKeyError extends HttpError {
  override readonly name = 'InvalidApiKeyError'
  readonly statusCode = 401
  constructor() {
    super('invalid api key')
  }
}

/** The tenant's available credits do not cover the estimate. */
export class InsufficientQuotaError extends HttpError {
  override readonly name = 'InsufficientQuotaError'
  readonly statusCode = 402
  /** Undefined for a tenant without a balance. */
  readonly shortfall: Shortfall | undefined
  constructor(what: 'video generation' | 'request' = 'video generation', shortfall?: Shortfall) {
    super(`insufficient quota for this ${what}`)
    this.shortfall = shortfall
  }
}

/** Unknown, disabled, of another kind, or not on the key's list: the answer never tells which. */
export class ModelNotFoundError extends HttpError {
  override readonly name = 'ModelNotFoundError'
  readonly statusCode = 404
  override readonly kind = { type: 'invalid_request_error', code: 'model_not_found', param: 'model' }
  constructor(model: string) {
    super(
      `the model ${JSON.stringify(model.slice(0, MODEL_CHARACTERS_SHOWN))} does not exist or this api key may not use it`,
    )
  }
}

/** Longer than any id; what a client sends by mistake may be anything. */
const MODEL_CHARACTERS_SHOWN = 128

/** Unknown, deleted, malformed and other tenants' ids alike: the answer never tells which. */
export class VideoJobNotFoundError extends HttpError {
  override readonly name = 'VideoJobNotFoundError'
  readonly statusCode = 404
  constructor() {
    super('video job not found')
  }
}

/** No operation has this path. */
export class RouteNotFoundError extends HttpError {
  override readonly name = 'RouteNotFoundError'
  readonly statusCode = 404
  constructor() {
    super('not found')
  }
}

/** Operations have this path, and none of them this method; `allowedMethods` are theirs. */
export class MethodNotAllowedError extends HttpError {
  override readonly name = 'MethodNotAllowedError'
  readonly statusCode = 405
  readonly allowedMethods: readonly string[]
  constructor(allowedMethods: readonly string[]) {
    super('method not allowed')
    this.allowedMethods = allowedMethods
  }
}

/** The idempotency key belongs to a job that was ordered with another body. */
export class IdempotencyKeyReusedError extends HttpError {
  override readonly name = 'IdempotencyKeyReusedError'
  readonly statusCode = 409
  constructor() {
    super('idempotency key reused with a different body')
  }
}

/** The body has more bytes than the operation reads. */
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

/** Every upstream of a model asks for patience. Nothing was billed. */
export class RateLimitedError extends HttpError {
  override readonly name = 'RateLimitedError'
  readonly statusCode = 429
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number, options?: ErrorOptions) {
    super('rate limit exceeded', options)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The key sent more than its own limit lets it. Nothing was looked at but the key. */
export class KeyRateExceededError extends HttpError {
  override readonly name = 'KeyRateExceededError'
  readonly statusCode = 429
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super('rate limit exceeded')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** About how often upstreams are asked for a job: sooner, none of the open ones is likely to have ended. */
const OPEN_JOBS_RETRY_SECONDS = 10

/** The tenant has as many open video jobs as it may have at a time. Nothing was locked. */
export class TooManyOpenJobsError extends HttpError {
  override readonly name = 'TooManyOpenJobsError'
  readonly statusCode = 429
  override readonly retryAfterSeconds = OPEN_JOBS_RETRY_SECONDS
  constructor() {
    super('too many open video jobs')
  }
}

/** The upstreams of a model failed, or refused the gateway itself. Nothing was billed. */
export class UpstreamFailedError extends HttpError {
  override readonly name = 'UpstreamFailedError'
  readonly statusCode = 502
  override readonly kind = { type: 'server_error', code: 'upstream_error' }
  constructor(options?: ErrorOptions) {
    super('the upstream failed to answer this request', options)
  }
}

/** No channel of the model can be tried now: none is configured, or all of them rest after failures. */
export class NoChannelAvailableError extends HttpError {
  override readonly name = 'NoChannelAvailableError'
  readonly statusCode = 503
  override readonly kind = { type: 'server_error', code: 'no_channel_available' }
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super('no channel is available for this model')
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The upstream took the request and did not begin to answer in time: it may be at work still, and bill it. */
export class UpstreamTimeoutError extends HttpError {
  override readonly name = 'UpstreamTimeoutError'
  readonly statusCode = 504
  override readonly kind = { type: 'server_error', code: 'upstream_timeout' }
  override readonly shouldRetry = false
  constructor(options?: ErrorOptions) {
    super('the upstream did not answer in time', options)
  }
}
