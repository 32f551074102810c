import { parseVideoJobRequest } from '#core/api/video-job-request.ts'
import { type Catalogue, createCatalogue } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { GatewayConfig } from '#core/catalogue/gateway-config.ts'
import type { VideoModel } from '#core/catalogue/model.ts'
import { JOB_LIFETIME_SECONDS, type VideoJob } from '#core/jobs/video-job.ts'
import { microcredits } from '#core/money.ts'
import { estimateVideoLine, requestedTier, snapshotPrices } from '#core/pricing/video-cost.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'
import { reserveQuota } from '#store/job-ledger/reserve-quota.ts'
import { resolveReservation } from '#store/job-ledger/resolve-reservation.ts'
import { claimSubmit, recordAccepted, recordPoll, recordStored } from '#store/jobs/job-progress.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'
import { createUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount } from '#upstream/providers/video-account.ts'

export const TENANT_ID = 'demo'
const MODEL_ID = 'famB-1.1-t2v'
const CHANNEL_ID = 'p1-main'
const BILLED = microcredits(700_000)

/** How far a sample job has come. */
type Stage = 'queued' | 'submitted' | 'finished' | 'stored' | 'succeeded'
const STAGES: readonly Stage[] = ['queued', 'submitted', 'finished', 'stored', 'succeeded']

type SampleJobsOptions = {
  readonly table: Table
  readonly config: GatewayConfig
  readonly keyDigest: string
  readonly upstreamKey: string
  /** Moves the upstream's clock on, so that a submitted task ends. */
  readonly passTime: () => void
}

type SampleJob = {
  readonly jobId: string
  readonly stage: Stage
  readonly createdAt?: number
  readonly callbackUrl?: string
}

type Reservable = { readonly jobId: string; readonly createdAt: number; readonly callbackUrl: string | undefined }

/** Writes jobs into the table as the pipeline itself would have, over the stores and a real exchange with the upstream. */
export class SampleJobs {
  readonly #options: SampleJobsOptions
  readonly #catalogue: Catalogue
  readonly #channel: VideoChannel
  readonly #model: VideoModel

  constructor(options: SampleJobsOptions) {
    this.#options = options
    this.#catalogue = createCatalogue(options.config)
    this.#channel = required(this.#catalogue.findVideoChannel(CHANNEL_ID))
    this.#model = required(this.#catalogue.findVideoModel(MODEL_ID))
  }

  async read(jobId: string): Promise<VideoJob | undefined> {
    return await getVideoJob(this.#options.table, TENANT_ID, jobId)
  }

  /** @returns the job at its stage. */
  async make({ jobId, stage, createdAt = nowSeconds(), callbackUrl }: SampleJob): Promise<VideoJob> {
    const reached = (each: Stage) => STAGES.indexOf(stage) >= STAGES.indexOf(each)
    const { table } = this.#options
    await this.#reserve({ jobId, createdAt, callbackUrl })
    const job = { tenantId: TENANT_ID, jobId }
    if (reached('submitted')) {
      const taskId = await this.#submit(jobId, createdAt)
      if (reached('finished')) {
        await recordPoll(table, job, { pollText: { inline: await this.#finish(taskId) }, finishedAt: nowSeconds() })
      }
    }
    if (reached('stored')) {
      await recordStored(table, job, { durationSeconds: '5.0', nowSeconds: nowSeconds() })
    }
    if (reached('succeeded')) {
      await this.#settle(jobId)
    }
    return required(await this.read(jobId))
  }

  #request() {
    const body = { model: MODEL_ID, prompt: 'A paper city lights up at night' }
    return parseVideoJobRequest(body, { catalogue: this.#catalogue, allowedModels: null })
  }

  async #reserve({ jobId, createdAt, callbackUrl }: Reservable) {
    const request = this.#request()
    const line = estimateVideoLine(request, this.#model)
    await reserveQuota(this.#options.table, {
      tenantId: TENANT_ID,
      keyDigest: this.#options.keyDigest,
      keyId: this.#options.keyDigest.slice(0, 8),
      operation: 'create-video-job',
      jobId,
      model: MODEL_ID,
      createdAt,
      expiresAt: createdAt + JOB_LIFETIME_SECONDS,
      videoKey: `v/00000000000000000000000000000000/${jobId}.mp4`,
      callbackUrl,
      request: { inline: JSON.stringify(request) },
      estimate: line.amount,
      line,
      snapshot: snapshotPrices(this.#model, requestedTier(request)),
      tier: requestedTier(request),
      idempotency: undefined,
    })
  }

  #upstream() {
    const credential = async () => this.#options.upstreamKey
    return openVideoAccount(this.#channel, { credential, http: createUpstreamHttp() })
  }

  async #submit(jobId: string, nowSeconds: number): Promise<string> {
    const { table } = this.#options
    const job = { tenantId: TENANT_ID, jobId }
    await claimSubmit(table, { job, channel: this.#channel, nowSeconds })
    const outcome = await this.#upstream().submit({
      request: this.#request(),
      model: this.#model,
      upstreamModelId: MODEL_ID,
    })
    if (outcome.kind !== 'accepted') {
      throw new TypeError(`the upstream said ${outcome.kind}`)
    }
    await recordAccepted(table, job, {
      taskId: outcome.taskId,
      submitText: { inline: outcome.text },
      acceptedAt: Math.trunc(Date.now() / 1000),
    })
    return outcome.taskId
  }

  async #finish(taskId: string): Promise<string> {
    this.#options.passTime()
    const outcome = await this.#upstream().poll(taskId)
    if (outcome.kind !== 'succeeded') {
      throw new TypeError(`the upstream said ${outcome.kind}`)
    }
    return outcome.text
  }

  async #settle(jobId: string): Promise<void> {
    const { table } = this.#options
    await resolveReservation(table, {
      job: required(await this.read(jobId)),
      reservation: required(await getReservation(table, TENANT_ID, jobId)),
      resolution: { kind: 'settle', actual: BILLED, durationSeconds: '5.0' },
      nowMilliseconds: Date.now(),
    })
  }
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) {
    throw new TypeError('a sample job needs something that is not there')
  }
  return value
}

function nowSeconds(): number {
  return Math.trunc(Date.now() / 1000)
}
