import { type GatewayResponseOptions, ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway'
import {
  type GatewayError,
  gatewayErrorBody,
  INTERNAL_ERROR,
  REQUEST_REFUSED,
  REQUEST_TOO_LARGE,
} from '#core/api/api-gateway.ts'
import { PLATFORM_CROSS_ORIGIN } from '#core/api/cross-origin.ts'
import { notServedMessage } from '#core/api/paths.ts'
import { NO_SNIFFING } from '#core/http.ts'
import { SERVED } from '#routes/index.ts'

/** API Gateway's throttle refills every second. */
const RETRY_AFTER_SECONDS = 1

/** API Gateway's request id, as in the responses of functions. */
const REQUEST_ID = { 'x-request-id': 'context.requestId' }

type RefusalOptions = Omit<GatewayResponseOptions, 'templates'>

/**
 * Gives API Gateway's own refusals the error shape of OpenAI and the request id, and lets scripts of any origin read them
 * if browsers may use the API. The messages are fixed, because API Gateway's
 * message for a bad signature quotes the Authorization header.
 */
export function addErrorResponses(api: RestApi, { isOpenToBrowsers }: { readonly isOpenToBrowsers: boolean }): void {
  const crossOrigin = isOpenToBrowsers ? quoted(PLATFORM_CROSS_ORIGIN) : {}
  const add = (id: string, { responseHeaders, ...options }: RefusalOptions, error: GatewayError) =>
    api.addGatewayResponse(id, {
      ...options,
      responseHeaders: { ...REQUEST_ID, ...quoted(NO_SNIFFING), ...crossOrigin, ...responseHeaders },
      templates: { 'application/json': gatewayErrorBody(error) },
    })

  add('DefaultClientError', { type: ResponseType.DEFAULT_4XX }, REQUEST_REFUSED)
  add('DefaultServerError', { type: ResponseType.DEFAULT_5XX }, INTERNAL_ERROR)
  // Without a method API Gateway expects a signature of AWS: it misses one, or takes the bearer key for a bad one.
  add('NotFound', { type: ResponseType.MISSING_AUTHENTICATION_TOKEN, statusCode: '404' }, NOT_FOUND)
  add('NotSigned', { type: ResponseType.INVALID_SIGNATURE, statusCode: '404' }, NOT_FOUND)
  add('Filtered', { type: ResponseType.WAF_FILTERED, statusCode: '403' }, BLOCKED)
  add('BadBody', { type: ResponseType.BAD_REQUEST_BODY }, { ...REQUEST_REFUSED, message: 'invalid request body' })
  add('TooLarge', { type: ResponseType.REQUEST_TOO_LARGE, statusCode: '413' }, REQUEST_TOO_LARGE)
  add(
    'IntegrationTimeout',
    { type: ResponseType.INTEGRATION_TIMEOUT, statusCode: '504' },
    { status: 504, message: 'gateway timeout', code: null },
  )
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

/** The error of a throttled request; as for the rate limit of a key, whose message says more. */
export const RATE_LIMITED: GatewayError = { status: 429, message: 'rate limit exceeded', code: 'rate_limit_exceeded' }

/** The error of a path or a method that the API does not have. API Gateway puts in the variables, the path as it arrived: percent-encoded. */
const NOT_FOUND: GatewayError = {
  status: 404,
  message: `not found: ${notServedMessage('$context.httpMethod', '$context.path', SERVED)}`,
  code: 'not_found',
}

const BLOCKED: GatewayError = { status: 403, message: 'request blocked', code: 'request_blocked' }
