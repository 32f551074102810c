import { type PageQuery, readPageLimit, readQueryTenant } from '#core/admin/page-query.ts'
import { resendRefusal } from '#core/jobs/callback.ts'
import { parseListQuery } from '#core/jobs/list-query.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { listVideoJobs } from '#store/jobs/job-reader.ts'
import { defineOperation, isoTime, requireTenant } from './operation.ts'

/** Whether the callback of a job may be sent once more. */
export function mayResend(job: VideoJob): boolean {
  return !job.isDeleted && resendRefusal(job) === undefined
}

/** The callback of a job with its attempts, oldest first; null for a job without a callback url. */
export function callbackOf(job: VideoJob) {
  return job.callbackUrl === undefined
    ? null
    : { url_host: hostOf(job.callbackUrl), attempts: attemptsOf(job).map(attemptView), may_resend: mayResend(job) }
}

/** Every attempt of a job as rows of a list, newest first. */
export function attemptRows(job: VideoJob) {
  const { callbackUrl } = job
  return callbackUrl === undefined
    ? []
    : attemptsOf(job)
        .toReversed()
        .map((attempt) => ({
          job_id: job.jobId,
          url_host: hostOf(callbackUrl),
          ...attemptView(attempt),
          at: isoTime(attempt.at * 1000),
          may_resend: mayResend(job),
        }))
}

type Attempt = NonNullable<VideoJob['callbackAttempts']>[number]

function attemptsOf({ callbackAttempts = [] }: VideoJob): readonly Attempt[] {
  return callbackAttempts
}

function attemptView({ at, attempt, status, milliseconds, error, delivered }: Attempt) {
  return { at, attempt, status: status ?? null, milliseconds, error: error ?? null, delivered }
}

/** The rest of a callback url may hold a secret of the tenant. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'unknown'
}

/** Of `limit` of the newest jobs, in one query; a page may be empty. */
export const listCallbackAttempts = defineOperation({
  name: 'list-callback-attempts',
  method: 'GET',
  path: '/admin/v1/webhooks',
  access: 'tenant',
  readsTenant: true,
  query: {
    tenant: readQueryTenant,
    after: ({ after }: PageQuery) => parseListQuery({ after }).after,
    limit: readPageLimit,
  },
  async run({ tenant, after, limit }, context) {
    const now = context.nowMilliseconds()
    const wish = { tenantId: requireTenant(context, tenant), limit, offset: 0, after, requestsMax: 1 }
    const page = await listVideoJobs(context.table, { ...wish, nowSeconds: Math.trunc(now / 1000) })
    return {
      attempts: page.jobs.flatMap(attemptRows),
      has_more: page.hasMore,
      next: page.hasMore ? (page.lastId ?? null) : null,
      as_of: isoTime(now),
    }
  },
})

/** The operations that read callbacks, in the order of the documents. */
export const CALLBACK_READS = [listCallbackAttempts] as const
