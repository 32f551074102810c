import type { MiddlewareObj } from '@middy/core'
import { count } from '#adapters/telemetry/count.ts'
import type { CountedFact } from '#core/measures.ts'
import type { ApiEvent, ApiResult } from './api-event.ts'

/** Counts responses with the status 500. Stands outside of `errorResponse`, which gives failures their status. */
export function countedFailures(fact: CountedFact): MiddlewareObj<ApiEvent, ApiResult> {
  const finish = (request: { response?: ApiResult | null | undefined }) => {
    if (request.response?.statusCode === 500) {
      count(fact)
    }
  }
  return { after: finish, onError: finish }
}
