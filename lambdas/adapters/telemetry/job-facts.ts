import type { VideoJob } from '#core/jobs/video-job.ts'

/**
 * The fields of a video job in every log line about it. `requestId` leads to the line from the response to the `POST` that created
 * the job, and `jobId` from its execution, which has that name.
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
