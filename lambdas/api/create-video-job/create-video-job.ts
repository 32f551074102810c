import * as z from 'zod/mini'
import { executionName, startVideoExecution } from '#adapters/aws/video-executions.ts'
import { sha256Hex } from '#adapters/crypto/sha256.ts'
import { type Caller, findCaller } from '#adapters/store/accounts/api-key-record.ts'
import { placeRequest } from '#adapters/store/bucket/text-store.ts'
import { videoKey } from '#adapters/store/bucket/video-bucket.ts'
import { getVideoJob } from '#adapters/store/jobs/job-reader.ts'
import { IdempotencyKeyTakenError, type NewVideoJob } from '#adapters/store/money/reserve-quota.ts'
import { reserveWithRequest } from '#adapters/store/money/reserve-with-request.ts'
import type { Table } from '#adapters/store/table/table.ts'
import { tableKeys } from '#adapters/store/table/table-keys.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { measure } from '#adapters/telemetry/measure.ts'
import { parseVideoJobRequest, UNKNOWN_MODEL } from '#core/contract/video-job-request.ts'
import { IdempotencyKeyReusedError, InvalidApiKeyError, InvalidRequestError } from '#core/errors.ts'
import { JOB_LIFETIME_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import type { VideoJobRequest } from '#core/parameters/video-parameters.ts'
import { estimateVideoCost, requestedTier } from '#core/quota/estimate.ts'
import { snapshotPrices } from '#core/quota/price-snapshot.ts'
import type { CreateContext } from './create-context.ts'
import { repeatedResponse, submitResponse } from './submit-response.ts'

/** How long an idempotency key keeps its job (docs/decisions/0021). */
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
 * submit. For a key that was changed since it was read, this begins again, once, with what the key may do now.
 * @returns the body of the 201.
 * @throws InvalidRequestError, InvalidApiKeyError, InsufficientQuotaError, TooManyOpenJobsError, IdempotencyKeyReusedError,
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

async function createForCaller(
  { caller, body, idempotencyKey, requestId }: CreateCommand,
  context: CreateContext,
): Promise<string> {
  const request = parseVideoJobRequest(body, { catalogue: context.catalogue, allowedModels: caller.models })
  const requestText = JSON.stringify(request)
  const bodyHash = sha256Hex(requestText)
  const job = prepareJob({ caller, request, requestText, requestId }, context)
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : { digest: sha256Hex(idempotencyKey), bodyHash, expiresAt: job.createdAt + IDEMPOTENCY_SECONDS }
  try {
    await reserveWithRequest(context, { ...job, idempotency }, requestText)
  } catch (error) {
    if (error instanceof IdempotencyKeyTakenError && idempotency !== undefined) {
      const existing = await findIdempotentJob(context.table, caller.tenantId, idempotency)
      return await repeatedResponse(existing, context)
    }
    throw error
  }
  measure({ jobs_created: 1 }, { model: job.model })
  await startOrLeaveToReconcile(job)
  return await submitResponse(job, context)
}

type Prepared = {
  readonly caller: Caller
  readonly request: VideoJobRequest
  readonly requestText: string
  readonly requestId: string | undefined
}

function prepareJob(prepared: Prepared, context: CreateContext): NewVideoJob {
  const { caller, request, requestText, requestId } = prepared
  const model = context.catalogue.findVideoModel(request.model)
  if (model === undefined) {
    throw new InvalidRequestError([UNKNOWN_MODEL])
  }
  const tier = requestedTier(request)
  const jobId = context.newJobId()
  const createdAt = Math.trunc(context.nowMilliseconds() / 1000)
  return {
    tenantId: caller.tenantId,
    keyDigest: caller.keyDigest,
    keyRevision: caller.revision,
    jobId,
    model: request.model,
    createdAt,
    expiresAt: createdAt + JOB_LIFETIME_SECONDS,
    videoKey: videoKey(context.randomHex(KEY_RANDOM_BYTES), jobId),
    callbackUrl: request.callback_url,
    requestId,
    request: placeRequest({ tenantId: caller.tenantId, jobId }, requestText),
    estimate: estimateVideoCost(request, model),
    snapshot: snapshotPrices(model, tier),
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

const idempotencyItem = z.object({ bodyHash: z.string(), job: z.string() })

/**
 * The job that an idempotency key created.
 * @throws IdempotencyKeyReusedError when the key came with another body, or its job has been deleted.
 */
async function findIdempotentJob(
  table: Table,
  tenantId: string,
  { digest, bodyHash }: { digest: string; bodyHash: string },
): Promise<VideoJob> {
  const item = await table.readItem(tableKeys.idempotency(tenantId, digest))
  const stored = idempotencyItem.safeParse(item)
  const job = stored.success ? await getVideoJob(table, tenantId, stored.data.job) : undefined
  if (job === undefined || job.isDeleted || stored.data?.bodyHash !== bodyHash) {
    throw new IdempotencyKeyReusedError()
  }
  return job
}
