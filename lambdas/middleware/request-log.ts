import type { MiddlewareObj, Request } from '@middy/core'
import type { Context } from 'aws-lambda'
import { NO_SNIFFING } from '#core/http.ts'
import { rateHeaders } from '#core/limits.ts'
import { logger } from '#platform/telemetry/logger.ts'
import { type ApiEvent, type ApiResult, requestIdOf } from './api-event.ts'
import { handlingHeaders } from './request-input.ts'
import { refusalFacts } from './responses.ts'

type ApiRequest = Request<ApiEvent, ApiResult, Error, Context>

/**
 * Writes one log line per request. API Gateway's request id is in the log and, as `x-request-id`, on the response, beside
 * the headers with the time that the request took and against guessing of types. The state is kept on the event, because the local host serves many
 * requests at once with one logger.
 */
export function requestLog(operation: string): MiddlewareObj<ApiEvent, ApiResult, Error, Context> {
  const before = (request: ApiRequest) => {
    request.event.startedAt = performance.now()
  }
  const finish = (request: ApiRequest) => {
    const { event, context } = request
    const response = isResult(request.response) ? request.response : undefined
    const requestId = requestIdOf(event, context)
    const durationMilliseconds = Math.round(performance.now() - (event.startedAt ?? 0))
    if (response !== undefined) {
      const timing = { 'x-request-id': requestId, 'openai-processing-ms': String(durationMilliseconds) }
      const handling = handlingHeaders(event.handling)
      response.headers = { ...response.headers, ...handling, ...rateHeaders(event.rate), ...timing, ...NO_SNIFFING }
    }
    const tenantId = event.caller?.tenantId
    const outcome = { statusCode: response?.statusCode, durationMilliseconds, ...refusalFacts(request.error) }
    logger.info('request', { operation, requestId, ...outcome, tenantId })
  }
  return { before, after: finish, onError: finish }
}

function isResult(response: unknown): response is ApiResult {
  return typeof response === 'object' && response !== null && 'statusCode' in response
}
