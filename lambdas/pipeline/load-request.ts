import { loadText } from '#adapters/store/bucket/text-store.ts'
import { getReservation } from '#adapters/store/money/reservation.ts'
import type { VideoJobRequest } from '#core/parameters/video-parameters.ts'
import { JobRecordMissingError } from './require-job.ts'
import type { StepContext } from './step-context.ts'

/**
 * The validated request that a job was created from. It was written by the gateway itself after validation.
 * @throws JobRecordMissingError when the reservation is gone.
 */
export async function loadVideoJobRequest(
  context: Pick<StepContext, 'table' | 'openBucket'>,
  { tenantId, jobId }: { tenantId: string; jobId: string },
): Promise<VideoJobRequest> {
  const reservation = await getReservation(context.table, tenantId, jobId)
  const text = await loadText(context.openBucket, reservation?.request)
  if (text === undefined) {
    throw new JobRecordMissingError(`no request of job ${jobId}`)
  }
  const request: VideoJobRequest = JSON.parse(text)
  return request
}
