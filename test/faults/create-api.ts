import { randomBytes } from 'node:crypto'
import { v7 as uuidv7 } from 'uuid'
import { readIdempotencyKey } from '#core/api/video-job-request.ts'
import { createVideoJob } from '#lambdas/api/create-video-job/create-video-job.ts'
import { authenticatedCaller, headerOf } from '#middleware/api-event.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import type { Clock } from '#platform/clock.ts'
import { createVideoJob as route } from '#routes/video-jobs.ts'
import { storeApiKey } from '#store/keys/key-changes.ts'
import type { Pipeline } from '../engines/pipeline.ts'
import { PER_SECOND_MODEL } from '../engines/test-catalogue.ts'
import { tableWithClient } from '../engines/test-table.ts'
import { TESTER } from '../engines/video-jobs.ts'
import { apiEvent, context as lambdaContext } from '../middleware/api-exchange.ts'

/** The whole time that API Gateway leaves a function. */
const LAMBDA = { ...lambdaContext, getRemainingTimeInMillis: () => 29_000 }

const BODY = { model: PER_SECOND_MODEL, prompt: 'a boat' }

type Answer = { readonly status: number; readonly text: string; readonly headers: Readonly<Record<string, unknown>> }

/** Sends one create of a five-second video (0.70 credits) as the pipeline's tenant. */
export type CreateApi = (request?: { idempotencyKey?: string; body?: object }) => Promise<Answer>

/**
 * `POST /v1/video/generations` with all of its middleware, over a pipeline's table and, unless another is given, its clock.
 * The execution is started through the environment's Step Functions.
 */
export async function openCreateApi({ context, tenant }: Pipeline, clock: Clock = context): Promise<CreateApi> {
  const { nowMilliseconds, pause } = clock
  const table = tableWithClient({ ...context.table, pause })
  const key = `key-${randomBytes(8).toString('hex')}`
  await storeApiKey(table, { key, tenantId: tenant.tenantId, models: null }, TESTER)
  const create = {
    ...{ nowMilliseconds, pause, table },
    ...{ openBucket: context.openBucket, catalogue: context.catalogue, currentCatalogue: context.currentCatalogue },
    newJobId: () => uuidv7({ msecs: nowMilliseconds() }),
    randomHex: (bytes: number) => randomBytes(bytes).toString('hex'),
  }
  const handler = apiHandler(route, { openTable: () => table }, async (event) => {
    const idempotencyKey = readIdempotencyKey(headerOf(event, 'idempotency-key'))
    return await createVideoJob({ caller: authenticatedCaller(event), body: event.json, idempotencyKey }, create)
  })
  return async ({ idempotencyKey, body = BODY } = {}) => {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    }
    const answer = await handler(apiEvent({ headers, body: JSON.stringify(body) }), LAMBDA)
    return { status: answer.statusCode, text: answer.body, headers: answer.headers ?? {} }
  }
}
