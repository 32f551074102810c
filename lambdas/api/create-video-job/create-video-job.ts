import { offerVideoJob, type VideoOffer } from '#core/api/video-job-request.ts'
import { IdempotencyKeyReusedError, InvalidApiKeyError } from '#core/errors.ts'
import { JOB_LIFETIME_SECONDS } from '#core/jobs/video-job.ts'
import { executionName, startVideoExecution } from '#platform/aws/video-executions.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { measure } from '#platform/telemetry/measures.ts'
import { placeRequest, videoKey } from '#store/bucket/bucket.ts'
import { type Caller, findCaller } from '#store/callers.ts'
import { IdempotencyKeyTakenError, type NewVideoJob, reserveWithRequest } from '#store/job-ledger/reserve-quota.ts'
import type { CreateContext } from './create-context.ts'
import { findIdempotentJob, findJobOfDisabledModel, idempotentRequest } from './idempotent-job.ts'
import { repeatedResponse, submitResponse } from './submit-response.ts'

/** As in the table of routes. */
const OPERATION = 'create-video-job'

/** How long an idempotency key keeps its job. */
const IDEMPOTENCY_SECONDS = 24 * 60 * 60

/** The length of the part of the object key that cannot be guessed. */
const KEY_RANDOM_BYTES = 16

type CreateCommand = {
  readonly caller: Caller
  readonly body: unknown
  readonly idempotencyKey: string | undefined
  /** Kept on the job. */
  readonly requestId?: string
}

/**
 * Validates the request, reserves the quota and writes the job in one transaction, starts its execution and waits for the
 * submit. A repeated request finds its job, also when its model was disabled since. For a key that was changed since it was read, this
 * begins again, once, with what the key may do now.
 * @returns the body of the 201.
 * @throws InvalidRequestError, InvalidApiKeyError, BudgetExceededError, InsufficientQuotaError, TooManyOpenJobsError, IdempotencyKeyReusedError,
 * ServiceUnavailableError.
 */
export async function createVideoJob(command: CreateCommand, context: CreateContext): Promise<string> {
  try {
    return await createForCaller(command, context)
  } catch (error) {
    const caller = error instanceof InvalidApiKeyError ? await changedCaller(command.caller, context) : undefined
    if (caller === undefined) {
      throw error
    }
    return await createForCaller({ ...command, caller }, context)
  }
}

/** The caller of a key that is valid and has another revision than this; the transaction refuses it like a revoked one. */
async function changedCaller({ keyDigest, revision }: Caller, context: CreateContext): Promise<Caller | undefined> {
  const caller = await findCaller(context.table, keyDigest, context.nowMilliseconds() / 1000)
  return caller?.revision === revision ? undefined : caller
}

async function createForCaller(command: CreateCommand, context: CreateContext): Promise<string> {
  const { caller, body, idempotencyKey } = command
  const catalogue = await context.currentCatalogue.read()
  let offer: VideoOffer
  try {
    offer = offerVideoJob(body, { catalogue, allowedModels: caller.models })
  } catch (error) {
    const existing = await findJobOfDisabledModel(command, { table: context.table, catalogue })
    if (existing === undefined) {
      throw error
    }
    return await repeatedResponse(existing, context)
  }
  const requestText = JSON.stringify(offer.request)
  const job = prepareJob({ ...command, offer, requestText }, context)
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : { ...idempotentRequest(idempotencyKey, requestText), expiresAt: job.createdAt + IDEMPOTENCY_SECONDS }
  try {
    await reserveWithRequest(context, { ...job, idempotency }, requestText)
  } catch (error) {
    if (error instanceof IdempotencyKeyTakenError && idempotency !== undefined) {
      const existing = await findIdempotentJob(context.table, caller.tenantId, idempotency)
      if (existing === undefined) {
        throw new IdempotencyKeyReusedError()
      }
      return await repeatedResponse(existing, context)
    }
    throw error
  }
  measure({ jobs_created: 1 }, { model: job.model })
  await startOrLeaveToReconcile(job)
  return await submitResponse(job, context)
}

type Prepared = Pick<CreateCommand, 'caller' | 'requestId'> & {
  readonly offer: VideoOffer
  readonly requestText: string
}

function prepareJob(prepared: Prepared, context: CreateContext): NewVideoJob {
  const { caller, offer, requestText, requestId } = prepared
  const { request, tier, snapshot, line } = offer
  const jobId = context.newJobId()
  const createdAt = Math.trunc(context.nowMilliseconds() / 1000)
  return {
    tenantId: caller.tenantId,
    keyDigest: caller.keyDigest,
    keyRevision: caller.revision,
    keyId: caller.keyId,
    operation: OPERATION,
    budget: caller.budget,
    jobId,
    model: request.model,
    createdAt,
    expiresAt: createdAt + JOB_LIFETIME_SECONDS,
    videoKey: videoKey(context.randomHex(KEY_RANDOM_BYTES), jobId),
    callbackUrl: request.callback_url,
    requestId,
    request: placeRequest({ tenantId: caller.tenantId, jobId }, requestText),
    estimate: line.amount,
    line,
    snapshot,
    tier,
    idempotency: undefined,
  }
}

/** The money is reserved, and Reconcile repeats a failed start within two minutes, so the client gets its job. */
async function startOrLeaveToReconcile(job: NewVideoJob): Promise<void> {
  try {
    await startVideoExecution(job)
    logger.info('execution started', { ...jobFacts(job), model: job.model, execution: executionName(job.jobId, 0) })
  } catch (error) {
    logger.error('execution not started; reconcile will', {
      ...jobFacts(job),
      error: error instanceof Error ? error : undefined,
    })
  }
}
