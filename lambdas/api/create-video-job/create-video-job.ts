import { offerVideoJob, parseVideoJobRequest, type VideoOffer } from '#core/api/video-job-request.ts'
import { createdJobBody } from '#core/api/video-job-view.ts'
import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import {
  IdempotencyKeyReusedError,
  InvalidApiKeyError,
  InvalidRequestError,
  VideoJobNotFoundError,
} from '#core/errors.ts'
import { isTerminal, isUnwanted, JOB_LIFETIME_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { executionName, startVideoExecution } from '#platform/aws/video-executions.ts'
import type { Clock } from '#platform/clock.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { measure } from '#platform/telemetry/measures.ts'
import { loadTextIfThere, type OpenBucket, placeRequest, videoKey } from '#store/bucket/bucket.ts'
import type { TenantBudgets } from '#store/budget-moves.ts'
import { type Caller, findCaller } from '#store/callers.ts'
import type { CurrentCatalogue } from '#store/current-catalogue.ts'
import {
  IDEMPOTENCY_SECONDS,
  IdempotencyKeyTakenError,
  type IdempotentRequest,
  idempotentRequest,
  readKeyedJob,
} from '#store/job-ledger/idempotency-keys.ts'
import { type NewVideoJob, reserveWithRequest } from '#store/job-ledger/reserve-quota.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'

/**
 * The job that an idempotency key created; undefined if the key created none.
 * @throws IdempotencyKeyReusedError when the key came with another body, or its job has been deleted.
 */
export async function findIdempotentJob(
  table: Table,
  tenantId: string,
  idempotent: IdempotentRequest,
): Promise<VideoJob | undefined> {
  const keyed = await readKeyedJob(table, tenantId, idempotent)
  if (keyed === undefined) {
    return undefined
  }
  const job = keyed.job === undefined ? undefined : await getVideoJob(table, tenantId, keyed.job)
  if (keyed.bodyHash !== idempotent.bodyHash) {
    throw new IdempotencyKeyReusedError()
  }
  if (job === undefined || job.isDeleted) {
    throw new IdempotencyKeyReusedError('the job of this key was deleted: send a new key for another video')
  }
  return job
}

type Repeated = { readonly caller: Caller; readonly body: unknown; readonly idempotencyKey: string | undefined }

/**
 * The job of a refused request that would be valid if its model were enabled: a model can be disabled between a request and its
 * repetition. Undefined if the request has no idempotency key, is invalid for another reason, or created no job.
 * @throws IdempotencyKeyReusedError as {@link findIdempotentJob}.
 */
export async function findJobOfDisabledModel(
  { caller, body, idempotencyKey }: Repeated,
  { table, catalogue }: { readonly table: Table; readonly catalogue: Catalogue },
): Promise<VideoJob | undefined> {
  if (idempotencyKey === undefined) {
    return undefined
  }
  const enabling = { ...catalogue, findVideoModel: catalogue.findConfiguredVideoModel }
  const request = validRequest(body, { catalogue: enabling, allowedModels: caller.models })
  return request === undefined
    ? undefined
    : await findIdempotentJob(table, caller.tenantId, idempotentRequest(idempotencyKey, JSON.stringify(request)))
}

function validRequest(...parameters: Parameters<typeof parseVideoJobRequest>): VideoJobRequest | undefined {
  try {
    return parseVideoJobRequest(...parameters)
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      return undefined
    }
    throw error
  }
}

/** What a wait takes from outside: a job that exists does not depend on switches. */
type WaitContext = Omit<CreateContext, 'currentCatalogue'>

/** Pauses between reads of the job during its submit: each is `growth` times as long as the one before. */
const READ_PAUSE_MILLISECONDS = { first: 40, growth: 1.5, max: 500 }

/** The second pause as a share of the first: the slower the upstream, the less a short delay matters. */
const SECOND_PAUSE_SHARE = 0.25

/**
 * Waits for the recorded reply to the submit, at most `submit_wait_seconds`, and returns the body of the 201 with it. The
 * body has the injected fields alone when the job was refused, waits for a channel or takes longer: GET shows the rest.
 */
export async function submitResponse(created: CreatedJob, context: WaitContext): Promise<string> {
  const startedAt = context.nowMilliseconds()
  const firstPause = context.submitRhythm?.firstReadMilliseconds(created.model) ?? READ_PAUSE_MILLISECONDS.first
  const { job, reads } = await readUntilReady(created, context, firstPause)
  if (isReady(job)) {
    const waitedMilliseconds = context.nowMilliseconds() - startedAt
    context.submitRhythm?.learn(created.model, { waitedMilliseconds, reads })
  }
  return await createdBody(job, context)
}

/** The same body for a repeated `POST`, whose job may have had its reply for a long time. */
export async function repeatedResponse(existing: VideoJob, context: WaitContext): Promise<string> {
  if (isReady(existing)) {
    return await createdBody(existing, context)
  }
  const { job } = await readUntilReady(existing, context, READ_PAUSE_MILLISECONDS.first)
  return await createdBody(job, context)
}

type CreatedJob = Pick<VideoJob, 'tenantId' | 'jobId' | 'model'>

async function readUntilReady({ tenantId, jobId }: CreatedJob, context: WaitContext, firstPause: number) {
  const giveUpAt = context.nowMilliseconds() + context.catalogue.config.submit_wait_seconds * 1000
  let pauseMilliseconds = firstPause
  for (let reads = 1; ; reads += 1) {
    await context.pause(Math.max(0, Math.min(pauseMilliseconds, giveUpAt - context.nowMilliseconds())))
    const job = await getVideoJob(context.table, tenantId, jobId)
    if (job === undefined) {
      throw new VideoJobNotFoundError()
    }
    if (isReady(job) || context.nowMilliseconds() >= giveUpAt) {
      return { job, reads }
    }
    pauseMilliseconds = pauseAfter(reads, firstPause)
  }
}

function pauseAfter(reads: number, firstPause: number): number {
  const { first, growth, max } = READ_PAUSE_MILLISECONDS
  return Math.min(max, Math.max(first, firstPause * SECOND_PAUSE_SHARE) * growth ** (reads - 1))
}

async function createdBody(job: VideoJob, { openBucket }: WaitContext): Promise<string> {
  return createdJobBody(job, await loadTextIfThere(openBucket, job.submitText))
}

function isReady(job: VideoJob): boolean {
  return (
    isUnwanted(job) ||
    job.submitText !== undefined ||
    job.isWaitingForChannel ||
    job.failure !== undefined ||
    isTerminal(job)
  )
}

/** As in the table of routes. */
const OPERATION = 'create-video-job'

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
    logger.error('execution not started; reconcile will', { ...jobFacts(job), error: asError(error) })
  }
}

/** The clock, stores, configuration and randomness that a create needs. */
export type CreateContext = Clock & {
  readonly table: Table
  readonly openBucket: OpenBucket
  readonly catalogue: Catalogue
  /** Says which models exist for clients now. */
  readonly currentCatalogue: Pick<CurrentCatalogue, 'read'>
  /** A UUID of version 7. */
  readonly newJobId: () => string
  readonly randomHex: (bytes: number) => string
  /** The submit latency learnt from earlier creates. Default: a fixed delay before the first read. */
  readonly submitRhythm?: SubmitRhythm
  /** What earlier creates learned about the budgets of tenants; without it each of them costs a second try. */
  readonly tenantBudgets?: TenantBudgets
}

/** Milliseconds: before anything was learnt, and the bounds of learning. The maximum is that of the pauses between later reads. */
const FIRST_READ = { unknown: 40, min: 15, max: 500 }

/**
 * The factor on the wait after a first read that found the reply, which may have come earlier. After several such reads the
 * wait is much too long, as it is after a slow period.
 */
const AFTER_HITS = [0.9, 0.75, 0.5] as const

/** The weight of a longer wait against what was learnt, and the most that one wait may raise it. */
const NEWEST_WEIGHT = 0.5
const RISE_MAX = 1.5

type Learnt = { readonly milliseconds: number; readonly hits: number }

/**
 * When to read a job for the reply to its submit, learnt from earlier submits. A read that comes too early costs as much as
 * one that finds the reply, and an upstream takes about the same time for each submit. One slow submit hardly counts.
 */
export class SubmitRhythm {
  /** By model, because the model decides the upstream. */
  readonly #learnt = new Map<string, Learnt>()

  firstReadMilliseconds(model: string): number {
    return this.#learnt.get(model)?.milliseconds ?? FIRST_READ.unknown
  }

  /** @param wait how long the reply took to be found, and with how many reads. */
  learn(model: string, wait: { readonly waitedMilliseconds: number; readonly reads: number }): void {
    const known = this.firstReadMilliseconds(model)
    const hits = wait.reads === 1 ? (this.#learnt.get(model)?.hits ?? 0) + 1 : 0
    const learnt =
      hits > 0
        ? known * (AFTER_HITS[Math.min(hits, AFTER_HITS.length) - 1] ?? 1)
        : Math.min(known * RISE_MAX, known + (wait.waitedMilliseconds - known) * NEWEST_WEIGHT)
    const milliseconds = Math.min(FIRST_READ.max, Math.max(FIRST_READ.min, learnt))
    this.#learnt.set(model, { milliseconds, hits })
  }
}
