import { readPageLimit } from '#core/admin/page-query.ts'
import { VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { jobEvents, jobPercent } from '#core/jobs/job-events.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import { hasEnded, isCancelled, isVisible, type VideoJob, visibleError, visibleStatus } from '#core/jobs/video-job.ts'
import { exceededBound } from '#core/json/json-scanner.ts'
import { parseJsonText } from '#core/json/parse-json-text.ts'
import { formatCredits } from '#core/money.ts'
import { videoReceipt } from '#core/pricing/video-settlement.ts'
import { mayAccess } from '#core/roles.ts'
import { callbackOf, mayResend } from '#lambdas/admin/callback-attempts.ts'
import { visibleTo } from '#lambdas/admin/operation.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import { asError, logger } from '#platform/telemetry/logger.ts'
import { loadTextIfThere } from '#store/bucket/bucket.ts'
import { receiptRowsOf } from '#store/job-ledger/receipt-rows.ts'
import { type Reservation, readReservationItem } from '#store/job-ledger/reservation.ts'
import { listVideoJobs, readVideoJobItem } from '#store/jobs/job-reader.ts'
import { tableKeys } from '#store/table/table-keys.ts'
import { type ReadContext, tenantIdOf, tenantOf, unknownTenant } from './read-context.ts'

/** A job as a row of a list. */
export function videoRow(job: VideoJob, tenant: { readonly id: string; readonly name: string }, nowSeconds: number) {
  const [, seconds, resolution] = /#(\d+)#([^#]+)$/.exec(job.timing?.className ?? '') ?? []
  const isEnded = hasEnded(job)
  const progress = isEnded ? undefined : jobPercent(job, nowSeconds)
  return {
    id: job.jobId,
    tenant,
    status: visibleStatus(job, nowSeconds),
    model: job.model,
    created_at: job.createdAt,
    ended_at: job.endedAt ?? null,
    duration: lengthOf(job) ?? (seconds === undefined ? null : Number(seconds)),
    resolution: resolution ?? null,
    channel: job.channelId ?? null,
    cost: costOf(job),
    estimate: formatCredits(job.estimate),
    percent: job.status === 'succeeded' ? 100 : (progress?.percent ?? null),
    eta_seconds: progress?.etaSeconds ?? null,
    error: visibleError(job) || null,
    cancelled: isCancelled(job),
  }
}

/** A job that failed without a bill was released. */
function costOf({ billed, status }: VideoJob): string | null {
  if (billed !== undefined) {
    return formatCredits(billed)
  }
  return status === 'failed' ? '0' : null
}

function lengthOf({ durationSeconds, storedDurationSeconds }: VideoJob): number | undefined {
  const text = durationSeconds || storedDurationSeconds
  return text ? Number(text) : undefined
}

/**
 * GET /admin/v1/videos/{job_id}: one request to the table, at most three objects of the bucket, and of an open job, for owners, one request to
 * Step Functions.
 */
export async function getVideo(event: ApiEvent, context: ReadContext): Promise<AdminResponse> {
  const session = sessionOf(event)
  const tenantId = tenantIdOf(event)
  const nowSeconds = Math.trunc(context.now() / 1000)
  const found = await readVideo(context, { tenantId, jobId: event.pathParameters?.job_id ?? '' })
  if (found === undefined || !isVisible(found.job, nowSeconds)) {
    throw new VideoJobNotFoundError()
  }
  const { job, reservation, rows, tenantName } = found
  if (tenantName === undefined) {
    throw unknownTenant(tenantId)
  }
  const [request, submit, poll] = await Promise.all(
    [reservation?.request, job.submitText, job.pollText].map((text) => loadTextIfThere(context.openBucket, text)),
  )
  const isOwner = session.role === 'owner'
  const isOpen = !hasEnded(job)
  const mayRedrive = isOwner && isOpen && (await needsExecution(job, reservation, context))
  return {
    body: visibleTo(session, {
      object: 'video.detail',
      ...videoRow(job, { id: tenantId, name: tenantName }, nowSeconds),
      failure_cause: job.failureCause ?? null,
      upstream_task: job.taskId ?? null,
      request_id: job.requestId ?? null,
      request: parsed(request),
      submit_reply: parsed(submit),
      poll_reply: parsed(poll),
      events: jobEvents(job, nowSeconds),
      receipt: rows === undefined ? null : videoReceipt(job.jobId, rows),
      callback: callbackOf(job),
      video_url: await videoUrl(job, context, nowSeconds),
      may: {
        cancel: isOwner && isOpen,
        delete: isOwner,
        redrive: mayRedrive,
        resend: mayAccess(session.role, 'tenant-admin') && mayResend(job),
      },
    }),
  }
}

async function readVideo({ table }: ReadContext, { tenantId, jobId: asked }: { tenantId: string; jobId: string }) {
  const jobId = asked.toLowerCase()
  if (!isJobId(jobId)) {
    return undefined
  }
  const [jobItem, reservationItem, reserve, resolution, tenant] = await table().readItems([
    tableKeys.job(tenantId, jobId),
    tableKeys.reservation(tenantId, jobId),
    tableKeys.ledgerReserve(tenantId, jobId),
    tableKeys.ledgerResolution(tenantId, jobId),
    tableKeys.tenant(tenantId),
  ])
  return jobItem === undefined
    ? undefined
    : {
        job: readVideoJobItem(jobItem),
        reservation: reservationItem === undefined ? undefined : readReservationItem(reservationItem),
        rows: receiptRowsOf(reserve, resolution),
        tenantName: typeof tenant?.name === 'string' ? tenant.name : undefined,
      }
}

/**
 * Whether a redrive would start anything: the execution of an open job is missing or broken. Without a response of Step Functions nobody
 * knows, and a redrive of a running job is refused anyway.
 */
async function needsExecution(
  { jobId }: VideoJob,
  reservation: Reservation | undefined,
  { describeExecution }: ReadContext,
): Promise<boolean> {
  if (reservation?.state !== 'held') {
    return false
  }
  try {
    return (await describeExecution(jobId, reservation.restarts)) !== 'running'
  } catch (error) {
    logger.warn('the execution of a job could not be read', { jobId, error: asError(error) })
    return true
  }
}

/** Neither a program nor a page could write or show much deeper values; no API nests so deep. */
const REPLY_BOUNDS = {
  depthMax: 64,
  fieldsMax: Number.POSITIVE_INFINITY,
  numbersMax: 1_000_000,
  elementsMax: Number.POSITIVE_INFINITY,
}

/** A reply of an upstream may be any string. */
function parsed(text: string | undefined): unknown {
  if (text === undefined) {
    return null
  }
  try {
    return exceededBound(text, REPLY_BOUNDS) === undefined ? parseJsonText(text) : text
  } catch {
    return text
  }
}

/** How long the url of a video works: long enough to watch, too short to pass on. */
const URL_SECONDS = 60 * 60

async function videoUrl(job: VideoJob, { openSigner }: ReadContext, nowSeconds: number): Promise<string | null> {
  if (job.status !== 'succeeded' || nowSeconds >= job.expiresAt) {
    return null
  }
  const short = { ...job, expiresAt: Math.min(job.expiresAt, nowSeconds + URL_SECONDS) }
  return (await openSigner(short))(short)
}

/** GET /admin/v1/videos: one query, however many jobs match the filter. */
export async function listVideos(event: ApiEvent, { table, now }: ReadContext): Promise<AdminResponse> {
  const session = sessionOf(event)
  const tenant = tenantOf(event)
  const query = event.queryStringParameters ?? {}
  const limit = readPageLimit(query)
  const { after, filter } = parseListQuery({ ...query, limit: undefined })
  const nowSeconds = Math.trunc(now() / 1000)
  const wish = { tenantId: tenant.id, limit, offset: 0, after, filter, nowSeconds, requestsMax: 1 }
  const page = await listVideoJobs(table(), wish)
  return {
    body: {
      object: 'list',
      data: page.jobs.map((job) => visibleTo(session, videoRow(job, tenant, nowSeconds))),
      has_more: page.hasMore,
      next: page.hasMore ? (page.lastId ?? null) : null,
      as_of: nowSeconds,
    },
  }
}
