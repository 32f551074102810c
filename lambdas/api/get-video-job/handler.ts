import { VideoJobNotFoundError } from '#core/errors.ts'
import { isJobId } from '#core/ids.ts'
import { isVisible } from '#core/jobs/video-job.ts'
import { apiHandler } from '#middleware/api-handler.ts'
import { getVideoJob } from '#routes/video-jobs.ts'
import { openBucket } from '#store/bucket/bucket.ts'
import { createCallerWithJobReader } from '#store/jobs/caller-with-job.ts'
import { createJobRenderer } from '../../pipeline/render-video-job.ts'

const render = createJobRenderer(openBucket)
const findCallerWithJob = createCallerWithJobReader()

export const handler = apiHandler(
  getVideoJob,
  {
    lookUpKey: (table, { event, ...key }) => findCallerWithJob(table, { ...key, jobId: jobIdOf(event.pathParameters) }),
  },
  async ({ job }) => {
    const nowSeconds = Math.trunc(Date.now() / 1000)
    if (job === undefined || !isVisible(job, nowSeconds)) {
      throw new VideoJobNotFoundError()
    }
    return await render(job, nowSeconds)
  },
)

function jobIdOf(parameters: Readonly<Record<string, string | undefined>> | null): string | undefined {
  const jobId = parameters?.job_id ?? ''
  return isJobId(jobId) ? jobId : undefined
}
