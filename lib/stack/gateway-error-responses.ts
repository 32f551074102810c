import { type GatewayResponseOptions, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import { PLATFORM_CROSS_ORIGIN } from '#core/api/cross-origin.ts'
import { NO_SNIFFING } from '#core/http.ts'

/** API Gateway's throttle refills every second. */
const RETRY_AFTER_SECONDS = 1

/** API Gateway's request id, as in the responses of functions. */
const REQUEST_ID = { 'x-request-id': 'context.requestId' }

/** The fields of an OpenAI error in a response of API Gateway itself. */
export type ErrorText = {
  readonly message: string
  readonly type: 'invalid_request_error' | 'rate_limit_error' | 'server_error'
  readonly code: string | null
}

type RefusalOptions = Omit<GatewayResponseOptions, 'templates'>

/**
 * Gives API Gateway's own refusals the error shape of OpenAI and the request id, and lets scripts of any origin read them
 * if browsers may use the API. The messages are fixed, because API Gateway's
 * message for a bad signature quotes the Authorization header.
 */
export function addErrorResponses(api: RestApi, { isOpenToBrowsers }: { readonly isOpenToBrowsers: boolean }): void {
  const crossOrigin = isOpenToBrowsers ? quoted(PLATFORM_CROSS_ORIGIN) : {}
  const add = (id: string, { responseHeaders, ...options }: RefusalOptions, error: ErrorText) =>
    api.addGatewayResponse(id, {
      ...options,
      responseHeaders: { ...REQUEST_ID, ...quoted(NO_SNIFFING), ...crossOrigin, ...responseHeaders },
      templates: { 'application/json': errorBody(error) },
    })

  add('DefaultClientError', { type: ResponseType.DEFAULT_4XX }, refused('request refused', null))
  add('DefaultServerError', { type: ResponseType.DEFAULT_5XX }, broken('internal error'))
  // Without a method API Gateway expects a signature of AWS: it misses one, or takes the bearer key for a bad one.
  add('NotFound', { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, statusCode: '404' }, NOT_FOUND)
  add('NotSigned', { type: ResponseType.INVALID_SIGNATURE, statusCode: '404' }, NOT_FOUND)
  add('Filtered', { type: ResponseType.WAF_FILTERED, statusCode: '403' }, refused('request blocked', 'request_blocked'))
  add('BadBody', { type: ResponseType.BAD_REQUEST_BODY }, refused('invalid request body', null))
  add(
    'TooLarge',
    { type: ResponseType.REQUEST_TOO_LARGE, statusCode: '413' },
    refused('request body too large', 'request_body_too_large'),
  )
  add('IntegrationTimeout', { type: ResponseType.INTEGRATION_TIMEOUT, statusCode: '504' }, broken('gateway timeout'))
  const retryAfter = { 'Retry-After': `'${RETRY_AFTER_SECONDS}'` }
  add('Throttled', { type: ResponseType.THROTTLED, statusCode: '429', responseHeaders: retryAfter }, RATE_LIMITED)
  add(
    'QuotaExceeded',
    { type: ResponseType.QUOTA_EXCEEDED, statusCode: '429', responseHeaders: retryAfter },
    RATE_LIMITED,
  )
}

/** Fixed values, as API Gateway writes them. */
function quoted(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, `'${value}'`]))
}

/** The error of a throttled request; the same as for the rate limit of a key. */
export const RATE_LIMITED: ErrorText = {
  message: 'rate limit exceeded',
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
}

/** The error of a path or a method that the API does not have. */
const NOT_FOUND: ErrorText = { message: 'not found', type: 'invalid_request_error', code: 'not_found' }

function refused(message: string, code: string | null): ErrorText {
  return { message, type: 'invalid_request_error', code }
}

function broken(message: string): ErrorText {
  return { message, type: 'server_error', code: null }
}

/** The error shape of OpenAI, as JSON. */
export function errorBody({ message, type, code }: ErrorText): string {
  return JSON.stringify({ error: { message, type, param: null, code } })
}
