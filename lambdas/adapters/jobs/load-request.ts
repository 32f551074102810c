import type { VideoJobRequest } from '#core/contract/video-parameters.ts'
import { getReservation } from '../stores/reservation.ts'
import { loadText } from '../stores/text-store.ts'
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
