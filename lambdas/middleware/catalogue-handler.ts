import middy from '@middy/core'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { type ApiEvent, type ApiResult, callerOf, jsonResult } from './api-event.ts'
import { authenticate } from './authenticate.ts'
import { openCallerContext } from './caller-context.ts'
import { errorResponse } from './error-response.ts'
import { limitRate } from './limit-rate.ts'
import { requestLog } from './request-log.ts'

type CatalogueAnswer = (event: ApiEvent, catalogue: Catalogue, allowed: readonly string[] | null) => object

/** The chain of operations that answer from the catalogue: one fresh read of the key, which many requests may share, and the limit of the key, if it has one. */
export function catalogueHandler(operation: string, answer: CatalogueAnswer) {
  return middy<ApiEvent, ApiResult>()
    .use(requestLog(operation))
    .use(errorResponse())
    .use(authenticate(async ({ keyDigest }) => ({ caller: await openCallerContext().callers.confirm(keyDigest) })))
    .use(limitRate(() => openCallerContext().rates))
    .handler(async (event) => {
      const { models } = callerOf(event)
      return jsonResult(200, JSON.stringify(answer(event, openCallerContext().catalogue, models)))
    })
}
