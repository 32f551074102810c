import type { Catalogue } from '#core/catalogue/catalogue.ts'
import { InvalidRequestError, VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { allowedTenant } from '#lambdas/admin/operation.ts'
import { ID_CHARACTERS_MAX, pathId } from '#lambdas/admin/serve-operation.ts'
import type { StepContext } from '#lambdas/pipeline/step-context.ts'
import { type AdminResponse, sessionOf } from '#middleware/admin-chain.ts'
import type { ApiEvent } from '#middleware/api-event.ts'
import type { OpenUrlSigner } from '#platform/cdn/video-urls.ts'
import type { Clock } from '#platform/clock.ts'
import type { OpenBucket } from '#store/bucket/bucket.ts'
import { getVideoJob } from '#store/jobs/job-reader.ts'
import type { Table } from '#store/table/table.ts'

/** What the operations that change something take from outside. */
export type WriteContext = Pick<Clock, 'nowMilliseconds'> &
  Pick<StepContext, 'network'> & {
    /** Signs the url of a video in a callback that is sent again. */
    readonly openUrlSigner: OpenUrlSigner
    readonly table: Table
    readonly openBucket: OpenBucket
    /** The configuration of the deployment, without switches. */
    readonly openCatalogue: () => Catalogue
  }

/** One operation that changes something. */
export type WriteOperation = (event: ApiEvent, context: WriteContext) => Promise<AdminResponse>

/**
 * The job that a request names, in the path and by its tenant: jobs are stored by tenant.
 * @throws InvalidRequestError without a tenant; ForbiddenError for a role of another tenant; VideoJobNotFoundError for a malformed id.
 */
export function jobKeyOf(event: ApiEvent): Pick<VideoJob, 'tenantId' | 'jobId'> {
  const tenantId = allowedTenant(sessionOf(event), event.queryStringParameters?.tenant)
  if (tenantId === undefined || tenantId === '' || tenantId.length > ID_CHARACTERS_MAX) {
    throw new InvalidRequestError([{ path: 'tenant', message: 'name the tenant of the job: ?tenant=<id>' }])
  }
  const jobId = pathId(event, 'job_id', 'video job')
  if (!isJobId(jobId)) {
    throw new VideoJobNotFoundError()
  }
  return { tenantId, jobId }
}

/** Reads that job, a deleted one too. @throws VideoJobNotFoundError and as {@link jobKeyOf}. */
export async function readNamedJob(event: ApiEvent, { table }: WriteContext): Promise<VideoJob> {
  const { tenantId, jobId } = jobKeyOf(event)
  const job = await getVideoJob(table, tenantId, jobId)
  if (job === undefined) {
    throw new VideoJobNotFoundError()
  }
  return job
}
