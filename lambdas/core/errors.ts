import type { RequestRate } from './limits.ts'
import type { Shortfall } from './money.ts'

/** An issue with one field of a request. `path` is dotted, and empty for the whole body. */
export type RequestIssue = { readonly path: string; readonly message: string }

/** Base of all errors that become a 4xx or 5xx; `message` is public. */
export abstract class HttpError extends Error {
  abstract readonly statusCode: number
  /** What the client should do, beside `message`, whose words are fixed. */
  readonly explanation: string | undefined = undefined
  /** Seconds for `Retry-After`, if a retry can succeed. */
  readonly retryAfterSeconds: number | undefined = undefined
  /** Fields of the OpenAI shape that do not follow from the status. */
  readonly kind: ErrorKind | undefined = undefined
  /** `false` stops SDKs from retrying a request that could be billed twice, or cannot succeed. */
  readonly shouldRetry: false | undefined = undefined
}

/** `type`, `code` and `param` of the OpenAI error shape. */
export type ErrorKind = { readonly type: string; readonly code: string | null; readonly param?: string }

/** The request breaks a rule of the contract or a limit of its model. */
export class InvalidRequestError extends HttpError {
  override readonly name = 'InvalidRequestError'
  readonly statusCode = 400
  readonly issues: readonly RequestIssue[]
  /** One sentence about all issues, for an error shape that holds one; the first issue says enough without it. */
  readonly summary: string | undefined
  constructor(issues: readonly RequestIssue[], summary?: string) {
    super('invalid request body')
    this.issues = issues
    this.summary = summary
  }
}

/** The key is missing, unknown, revoked, expired or suspended; the response does not tell which. */
export class InvalidApiKeyError extends HttpError {
  override readonly name = 'InvalidApiKeyError'
  readonly statusCode = 401
  override readonly explanation: string | undefined
  /** Claude Code repeats a 401 for minutes without a word. */
  override readonly shouldRetry = false
  /** @param explanation how to send a key, for a request that shows none. */
  constructor(explanation?: string) {
    super('invalid api key')
    this.explanation = explanation
  }
}

/** The tenant's available credits do not cover the estimate. */
export class InsufficientQuotaError extends HttpError {
  override readonly name = 'InsufficientQuotaError'
  readonly statusCode = 402
  /** Undefined if the tenant has no balance. */
  readonly shortfall: Shortfall | undefined
  constructor(what: 'video generation' | 'request' = 'video generation', shortfall?: Shortfall) {
    super(`insufficient quota for this ${what}`)
    this.shortfall = shortfall
  }
}

/** The model is of another kind than the route takes, or it is unknown, disabled, or not on the key's list; the response does not tell which of these. */
export class ModelNotFoundError extends HttpError {
  override readonly name = 'ModelNotFoundError'
  readonly statusCode = 404
  override readonly kind = { type: 'invalid_request_error', code: 'model_not_found', param: 'model' }
  /**
   * @param message what to do about a model of another kind.
   * @param nearest the model that was probably meant.
   */
  constructor(
    model: string,
    { message, nearest }: { message?: string | undefined; nearest?: string | undefined } = {},
  ) {
    const shown = JSON.stringify(model.slice(0, MODEL_CHARACTERS_SHOWN))
    const meant = nearest === undefined ? '' : `: did you mean ${nearest}?`
    super(message ?? `the model ${shown} does not exist or this api key may not use it${meant}`)
  }
}

/** Bounds the echo of a client's string; longer than any model id. */
const MODEL_CHARACTERS_SHOWN = 128

/** The id is unknown, deleted, malformed or another tenant's; the response does not tell which. */
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
  override readonly explanation: string | undefined
  /** @param explanation left out where strangers should learn nothing. */
  constructor(explanation?: string) {
    super('not found')
    this.explanation = explanation
  }
}

/** No operation of this path has this method. */
export class MethodNotAllowedError extends HttpError {
  override readonly name = 'MethodNotAllowedError'
  readonly statusCode = 405
  override readonly explanation: string
  readonly allowedMethods: readonly string[]
  constructor(allowedMethods: readonly string[], method: string) {
    super('method not allowed')
    this.allowedMethods = allowedMethods
    this.explanation = `this path takes ${allowedMethods.join(' or ')}, not ${method}`
  }
}

/** The idempotency key belongs to a job with another body, or to a deleted job. */
export class IdempotencyKeyReusedError extends HttpError {
  override readonly name = 'IdempotencyKeyReusedError'
  readonly statusCode = 409
  override readonly shouldRetry = false
  override readonly explanation: string | undefined
  /** @param explanation of a job whose body need not differ. */
  constructor(explanation?: string) {
    super('idempotency key reused with a different body')
    this.explanation = explanation
  }
}

/** The body exceeds the operation's limit of bytes. */
export class RequestBodyTooLargeError extends HttpError {
  override readonly name = 'RequestBodyTooLargeError'
  readonly statusCode = 413
  override readonly explanation: string
  constructor(bytesMax: number) {
    super('request body too large')
    const kibibytes = bytesMax / 1024
    const most = kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`
    this.explanation = `it may have at most ${most}`
  }
}

/** The table was contended or throttled in every attempt; nothing was written. */
export class ServiceUnavailableError extends HttpError {
  override readonly name = 'ServiceUnavailableError'
  readonly statusCode = 503
  override readonly retryAfterSeconds = 1
  constructor(options?: ErrorOptions) {
    super('service unavailable', options)
  }
}

/** Every upstream of the model limits the rate of the gateway. Nothing was billed. */
export class RateLimitedError extends HttpError {
  override readonly name = 'RateLimitedError'
  readonly statusCode = 429
  override readonly kind = { type: 'rate_limit_error', code: 'upstream_rate_limited' }
  override readonly retryAfterSeconds: number
  constructor(retryAfterSeconds: number) {
    super(`every upstream of this model limits the rate of the gateway, not of this key: wait ${retryAfterSeconds} s`)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The key exceeded its own rate limit. Nothing else of the request was read. */
export class KeyRateExceededError extends HttpError {
  override readonly name = 'KeyRateExceededError'
  readonly statusCode = 429
  override readonly retryAfterSeconds: number
  override readonly explanation: string
  constructor(retryAfterSeconds: number, { perMinute, burst }: Pick<RequestRate, 'perMinute' | 'burst'>) {
    super('rate limit exceeded')
    this.retryAfterSeconds = retryAfterSeconds
    this.explanation = `this key may send ${perMinute} a minute, and ${burst} at once after a rest: wait ${retryAfterSeconds} s`
  }
}

/** About the poll interval of upstreams: open jobs are unlikely to end sooner. */
const OPEN_JOBS_RETRY_SECONDS = 10

/** The tenant has reached its limit of open video jobs. Nothing was reserved. */
export class TooManyOpenJobsError extends HttpError {
  override readonly name = 'TooManyOpenJobsError'
  readonly statusCode = 429
  override readonly retryAfterSeconds = OPEN_JOBS_RETRY_SECONDS
  constructor() {
    super('too many open video jobs')
  }
}

/** Every upstream of the model is busy, at least one with all of its clients (529). Nothing was billed. */
export class UpstreamOverloadedError extends HttpError {
  override readonly name = 'UpstreamOverloadedError'
  readonly statusCode = 503
  override readonly kind = { type: 'server_error', code: 'upstream_overloaded' }
  override readonly retryAfterSeconds = 1
  constructor() {
    super('the upstream is overloaded')
  }
}

/**
 * Why upstreams failed, as clients see it. `upstream_auth`: the gateway's own key is refused. `upstream_quota`: its account is.
 * `upstream_unavailable`: out of reach, or a 5xx. `upstream_error`: anything else, such as a reply that broke off.
 */
export type UpstreamFailureCode = keyof typeof UPSTREAM_FAILURES

const UPSTREAM_FAILURES = {
  upstream_auth: 'the upstream refuses the credentials of the gateway: tell its operator',
  upstream_quota: 'the account of the gateway at the upstream is exhausted or blocked: tell its operator',
  upstream_unavailable: 'the upstream is out of reach or fails: try again later',
  upstream_error: 'the upstream failed to answer this request',
} as const

/** The upstreams of the model failed, or refused the gateway's own credentials. Nothing was billed. */
export class UpstreamFailedError extends HttpError {
  override readonly name = 'UpstreamFailedError'
  readonly statusCode = 502
  override readonly kind: ErrorKind
  constructor({ code = 'upstream_error', ...options }: ErrorOptions & { readonly code?: UpstreamFailureCode } = {}) {
    super(UPSTREAM_FAILURES[code], options)
    this.kind = { type: 'server_error', code }
  }
}

/** The model has no channel, or the breakers of all its channels are open. */
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

/** The upstream received the request and did not begin its reply in time. It may still process and bill the request. */
export class UpstreamTimeoutError extends HttpError {
  override readonly name = 'UpstreamTimeoutError'
  readonly statusCode = 504
  override readonly kind = { type: 'server_error', code: 'upstream_timeout' }
  override readonly shouldRetry = false
  constructor(options?: ErrorOptions) {
    super('the upstream did not answer in time', options)
  }
}

/** A script of another origin asks whether it may call a route, and may not. */
export class OriginNotAllowedError extends HttpError {
  override readonly name = 'OriginNotAllowedError'
  readonly statusCode = 403
  override readonly kind = { type: 'invalid_request_error', code: 'origin_not_allowed' }
  constructor() {
    super('this origin is not allowed: the operator lists the allowed origins in the configuration')
  }
}

/** The state of a job does not allow the request. The message says why, and no retry changes that. */
export class VideoJobConflictError extends HttpError {
  override readonly name = 'VideoJobConflictError'
  readonly statusCode = 409
  override readonly shouldRetry = false
}

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
