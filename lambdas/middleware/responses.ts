import type { MiddlewareObj } from '@middy/core'
import type { Context } from 'aws-lambda'
import { type AllowedOrigins, crossOriginHeaders } from '#core/api/cross-origin.ts'
import { type ErrorForm, MESSAGES_ERRORS, OPENAI_ERRORS } from '#core/api/error-form.ts'
import { errorShapeOf } from '#core/api/paths.ts'
import { BudgetExceededError, budgetShortfallMessage } from '#core/budgets.ts'
import {
  type ErrorKind,
  HttpError,
  InsufficientQuotaError,
  InvalidRequestError,
  MethodNotAllowedError,
  RequestBodyTooLargeError,
  ServiceUnavailableError,
} from '#core/errors.ts'
import { DO_NOT_RETRY } from '#core/http.ts'
import { shortfallMessage } from '#core/money.ts'
import { isContention } from '#platform/aws/retry-on-contention.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { type ApiEvent, type ApiResult, headerOf, requestIdOf } from './api-event.ts'

/** The public message of every fault of the gateway. */
const INTERNAL_ERROR = 'internal error'

/** Turns errors into responses. The form of the body follows the path, and a 5xx never shows its cause. */
export function errorResponse(): MiddlewareObj<ApiEvent, ApiResult> {
  const onError = (request: { event: ApiEvent; context: Context; error: unknown; response: unknown }) => {
    const { event, context, error } = request
    request.response = errorResult(error, { path: event.path, requestId: requestIdOf(event, context) })
  }
  return { onError }
}

/** A failed request: its errors have the form of its path, or the one of its protocol. */
type FailedRequest = { readonly requestId: string | undefined } & (
  | { readonly path: string }
  | { readonly errors: ErrorForm }
)

/** The response to a request that failed. Faults of the gateway are logged. */
export function errorResult(thrown: unknown, failed: FailedRequest): ApiResult {
  const { requestId } = failed
  const form = 'errors' in failed ? failed.errors : formOf(failed.path)
  // The table throttles or is out of reach: a retry may help, unlike after a fault of the gateway.
  const error = isContention(thrown) ? new ServiceUnavailableError({ cause: thrown }) : thrown
  const idHeader = form?.requestIdHeader
  const named = idHeader === undefined || requestId === undefined ? {} : { [idHeader]: requestId }
  if (!(error instanceof HttpError)) {
    logger.error('request failed', { requestId, error: error instanceof Error ? error : new Error(String(error)) })
    return result(500, bodyOf({ message: INTERNAL_ERROR, statusCode: 500 }, form), named)
  }
  if (error.statusCode >= 500) {
    logger.error('request failed', { requestId, error })
  }
  return result(error.statusCode, errorBody(error, form), { ...headersOf(error), ...named })
}

/**
 * What the log line of a request says whose key or token is refused: the code, and the check that failed. Of key and token it says nothing.
 * Empty for any other error.
 */
export function refusalFacts(error: unknown): { readonly errorCode?: string; readonly reason?: string | undefined } {
  if (!(error instanceof HttpError && (error.statusCode === 401 || error.statusCode === 403))) {
    return {}
  }
  const { code } = error.kind ?? kindOf(error.statusCode)
  return code === null ? {} : { errorCode: code, reason: error.explanation }
}

/** Undefined stands for the form of videos, which shows all details. */
type Form = ErrorForm | undefined

function formOf(path: string): Form {
  const shape = errorShapeOf(path)
  return shape === 'video' ? undefined : shape === 'messages' ? MESSAGES_ERRORS : OPENAI_ERRORS
}

function errorBody(error: HttpError, form: Form): object {
  if (error instanceof InvalidRequestError) {
    return invalidRequestBody(error, form)
  }
  // The bodies of these errors are one text for videos.
  const isPlain =
    form === undefined && (error instanceof RequestBodyTooLargeError || error instanceof MethodNotAllowedError)
  const explanation = isPlain ? undefined : explanationOf(error)
  return explanation === undefined ? bodyOf(error, form) : explainedBody(error, explanation, form)
}

/** The amounts of a refusal, where they are known, or what the error says beside its message. */
function explanationOf(error: HttpError): string | undefined {
  if (error instanceof BudgetExceededError) {
    return error.shortfall && budgetShortfallMessage(error.shortfall)
  }
  const isShort = error instanceof InsufficientQuotaError && error.shortfall
  return isShort ? shortfallMessage(error.shortfall) : error.explanation
}

/** The message of the video shape is fixed, so the explanation stands beside it. */
function explainedBody({ message, statusCode, kind }: HttpError, explanation: string, form: Form): object {
  return form === undefined
    ? { error: message, details: [{ path: '', message: explanation }] }
    : bodyOf({ message: `${message}: ${explanation}`, statusCode, kind }, form)
}

function headersOf(error: HttpError): Record<string, string> {
  return {
    ...(error.retryAfterSeconds === undefined ? {} : { 'retry-after': String(error.retryAfterSeconds) }),
    ...(error.shouldRetry === false ? DO_NOT_RETRY : {}),
    ...(error instanceof MethodNotAllowedError ? { allow: error.allowedMethods.join(', ') } : {}),
  }
}

function result(statusCode: number, body: object, headers: Record<string, string>): ApiResult {
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

function invalidRequestBody(error: InvalidRequestError, form: Form): object {
  const { statusCode, message, issues, summary, kind } = error
  if (form === undefined) {
    return { error: message, details: issues }
  }
  const [issue] = issues
  return form.body({
    statusCode,
    message: summary ?? issue?.message ?? message,
    type: 'invalid_request_error',
    param: issue?.path || null,
    code: kind?.code ?? null,
  })
}

/** Type and code of the OpenAI shape, by status. */
const OPENAI_KINDS: Readonly<Record<number, ErrorKind>> = {
  401: { type: 'invalid_request_error', code: 'invalid_api_key' },
  402: { type: 'insufficient_quota', code: 'insufficient_quota' },
  404: { type: 'invalid_request_error', code: 'not_found' },
  405: { type: 'invalid_request_error', code: 'method_not_allowed' },
  413: { type: 'invalid_request_error', code: 'request_body_too_large' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
}

type Refusal = Pick<HttpError, 'message' | 'statusCode'> & Partial<Pick<HttpError, 'kind'>>

function bodyOf({ message, statusCode, kind }: Refusal, form: Form): object {
  if (form === undefined) {
    return { error: message }
  }
  const { type, code, param = null } = kind ?? kindOf(statusCode)
  return form.body({ statusCode, message, type, param, code })
}

function kindOf(statusCode: number): ErrorKind {
  const type = statusCode >= 500 ? 'server_error' : 'invalid_request_error'
  return OPENAI_KINDS[statusCode] ?? { type, code: null }
}

/** The origins of the deployment, from `CORS_ORIGINS` (separated by spaces); empty without it. */
export function allowedOrigins(
  environment: Readonly<Record<string, string | undefined>> = process.env,
): AllowedOrigins {
  return (environment.CORS_ORIGINS ?? '').split(' ').filter((origin) => origin !== '')
}

/** Lets scripts of the allowed origins read every response, errors included. */
export function crossOrigin(allowed: AllowedOrigins): MiddlewareObj<ApiEvent, ApiResult> {
  const finish = (request: { event: ApiEvent; response?: ApiResult | null | undefined }) => {
    const { event, response } = request
    if (response) {
      const { vary } = response.headers ?? {}
      const added = crossOriginHeaders(headerOf(event, 'origin'), { allowed, vary: vary?.toString() })
      response.headers = { ...response.headers, ...added }
    }
  }
  return { after: finish, onError: finish }
}

/** Keeps every response, errors included, out of the caches of browsers and of the front door. */
export function neverStored(): MiddlewareObj<ApiEvent, ApiResult> {
  const finish = (request: { response?: ApiResult | null | undefined }) => {
    if (request.response) {
      request.response.headers = { ...request.response.headers, 'cache-control': 'no-store' }
    }
  }
  return { after: finish, onError: finish }
}
