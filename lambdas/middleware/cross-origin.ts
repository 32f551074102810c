import type { MiddlewareObj } from '@middy/core'
import { type AllowedOrigins, crossOriginHeaders } from '#core/api/cross-origin.ts'
import { type ApiEvent, type ApiResult, headerOf } from './api-event.ts'

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
