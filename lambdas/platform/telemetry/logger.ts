import { Logger } from '@aws-lambda-powertools/logger'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { SERVICE_NAME } from '#core/measures.ts'

/**
 * The one structured logger. Field names are stable (`jobId`, `tenantId`, `channelId`, `operation`). API keys, prompts,
 * references and signed URLs are never logged.
 */
export const logger = new Logger({ serviceName: process.env.POWERTOOLS_SERVICE_NAME ?? SERVICE_NAME })

/** What was thrown, as the `error` of a log line. Anything but an error is left out, because nobody knows what it says. */
export function asError(error: unknown): Error | undefined {
  return error instanceof Error ? error : undefined
}

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
