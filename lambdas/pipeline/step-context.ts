import type { Catalogue } from '#core/catalogue/catalogue.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import type { VideoJobRequest } from '#core/catalogue/parameters.ts'
import type { NextStep, StepInput, VideoJob } from '#core/jobs/video-job.ts'
import { videoProvider } from '#core/providers/registry.ts'
import { parseJson } from '#core/providers/reply-reading.ts'
import type { VideoResult } from '#core/providers/video-provider.ts'
import { once } from '#platform/cache.ts'
import { type Clock, systemClock } from '#platform/clock.ts'
import { openCatalogue } from '#platform/configuration.ts'
import { channelCredential, renewedCredential } from '#platform/secrets.ts'
import { asError, jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { loadText, type OpenBucket, openBucket } from '#store/bucket/bucket.ts'
import { getReservation } from '#store/job-ledger/reservation.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import type { OutboundNetwork } from '#upstream/guard/outbound-network.ts'
import { createJobUpstreamHttp, createUpstreamHttp } from '#upstream/providers/upstream-http.ts'
import { openVideoAccount, type VideoAccount } from '#upstream/providers/video-account.ts'

/** The clock, randomness, stores, upstreams and network of a step. Tests pass their own. */
export type StepContext = Clock & {
  readonly table: Table
  readonly openBucket: OpenBucket
  readonly catalogue: Catalogue
  /** From 0 up to 1. */
  readonly random: () => number
  /**
   * The upstream of a channel, for the calls of one job.
   * @throws when the channel's credential cannot be read, before anything is sent.
   */
  readonly openAccount: (channel: VideoChannel, job: Pick<VideoJob, 'requestId'>) => Promise<VideoAccount>
  /** Reads the stored reply of a success. @param provider the name of the one that sent it. */
  readonly readResult: (provider: string, text: string) => VideoResult
  /** For downloads and callbacks; the system's own network by default. */
  readonly network?: OutboundNetwork
}

/** The context of a deployed function, from its environment. */
export function openStepContext(): StepContext {
  const upstreamHttp = once(createUpstreamHttp)
  return {
    table: openTable(),
    openBucket: once(openBucket),
    catalogue: openCatalogue(),
    ...systemClock,
    random: Math.random,
    openAccount: async (channel, { requestId }) => {
      const key = await channelCredential(channel)
      return openVideoAccount(channel, {
        credential: async () => key,
        renewedCredential: (refused, millisecondsMax) => renewedCredential(channel, refused, millisecondsMax),
        http: createJobUpstreamHttp(upstreamHttp(), { channelId: channel.id, requestId }),
      })
    },
    readResult: readVideoResult,
  }
}

/** Reads the stored reply of a success: a step that only reads needs neither the channel nor its credential. */
export function readVideoResult(provider: string, text: string): VideoResult {
  return videoProvider(provider).readResult(parseJson(text))
}

/** Unix seconds of the context's clock. */
export function nowSeconds(context: Pick<StepContext, 'nowMilliseconds'>): number {
  return Math.trunc(context.nowMilliseconds() / 1000)
}

/** Opens the account of a channel for one job; undefined, and logged, if its key cannot be read. Nothing has been sent then. */
export async function openAccount(
  channel: VideoChannel,
  job: VideoJob,
  context: Pick<StepContext, 'openAccount'>,
): Promise<VideoAccount | undefined> {
  try {
    return await context.openAccount(channel, job)
  } catch (error) {
    const facts = jobFacts({ ...job, channelId: channel.id })
    logger.error('channel cannot be opened', { ...facts, error: asError(error) })
    return undefined
  }
}

/** The dimension `channel` of a job's metrics. */
export function ofChannel({ channelId = 'none' }: Pick<VideoJob, 'channelId'>): { readonly channel: string } {
  return { channel: channelId }
}

/** Reads what the upstream reported of a finished video, from the stored reply to a poll; undefined if there is none. */
export async function readStoredResult(
  { provider, pollText }: Pick<VideoJob, 'provider' | 'pollText'>,
  { openBucket, readResult }: Pick<StepContext, 'openBucket' | 'readResult'>,
): Promise<VideoResult | undefined> {
  const text = await loadText(openBucket, pollText)
  return text === undefined || provider === undefined ? undefined : readResult(provider, text)
}

/** An execution names a job that is not in the table, or has no reservation. No retry can help. */
export class JobRecordMissingError extends Error {
  override readonly name = 'JobRecordMissingError'
}

/**
 * Reads the job of an execution.
 * @throws JobRecordMissingError when the table has no such job.
 */
export async function requireVideoJob(table: Table, { tenantId, jobId }: StepInput): Promise<VideoJob> {
  const job = await getVideoJob(table, tenantId, jobId)
  if (job === undefined) {
    throw new JobRecordMissingError(`no record of job ${jobId}`)
  }
  return job
}

/**
 * Loads the request that a job was created from. The gateway wrote it after validation, so it is not validated again.
 * @throws JobRecordMissingError when the reservation, which holds the request or its place, is missing.
 */
export async function loadVideoJobRequest(
  context: Pick<StepContext, 'table' | 'openBucket'>,
  { tenantId, jobId }: Pick<StepInput, 'tenantId' | 'jobId'>,
): Promise<VideoJobRequest> {
  const reservation = await getReservation(context.table, tenantId, jobId)
  const text = await loadText(context.openBucket, reservation?.request)
  if (text === undefined) {
    throw new JobRecordMissingError(`no request of job ${jobId}`)
  }
  // biome-ignore lint/plugin: written by the gateway, with the names of the interface.
  const request: VideoJobRequest = JSON.parse(text)
  return request
}

type Step = (input: StepInput, context: StepContext) => Promise<NextStep>

/** The handler of a state's function: a step with the context of the deployed function. */
export function stepHandler(step: Step): (input: StepInput) => Promise<NextStep> {
  const context = openStepContext()
  return (input) => step(input, context)
}

/**
 * Reports an upstream success whose result is not a video, or must not be fetched. The job fails and is not billed, while
 * the upstream may bill the operator.
 * @param reason a text of the gateway or the name of an error; never a url.
 */
export function reportRefusedResult(job: VideoJob, reason: string): void {
  logger.error('result refused', { ...jobFacts(job), reason })
  count('result_refused', ofChannel(job))
}
