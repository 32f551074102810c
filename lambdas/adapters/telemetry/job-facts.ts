import type { VideoJob } from '#core/jobs/video-job.ts'

/**
 * What every log line about a video job says of it: by `requestId` the line is found from the answer of the `POST` that made
 * the job, by `jobId` from its execution, which has that name.
 */
export function jobFacts({ jobId, tenantId, requestId, channelId }: LoggedJob): Readonly<Record<string, string>> {
  return {
    jobId,
    tenantId,
    ...(requestId === undefined ? {} : { requestId }),
    ...(channelId === undefined ? {} : { channelId }),
  }
}

type LoggedJob = Pick<VideoJob, 'jobId' | 'tenantId'> & Partial<Pick<VideoJob, 'requestId' | 'channelId'>>
