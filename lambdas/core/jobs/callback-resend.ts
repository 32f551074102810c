import type { VideoJob } from './video-job.ts'
import { hasEnded } from './visible-status.ts'

/** How often the callback of a job may be sent again. */
export const RESENDS_MAX = 10

type Resendable = Pick<VideoJob, 'status' | 'cancelledAt' | 'callbackUrl' | 'callbackResends'>

/** Why the callback of a job cannot be sent again now, as clients read it; undefined if it can. */
export function resendRefusal(job: Resendable): string | undefined {
  if (job.callbackUrl === undefined) {
    return 'the job was created without a callback_url'
  }
  if (!hasEnded(job)) {
    return 'the job has not ended: its callback is sent when it ends'
  }
  return (job.callbackResends ?? 0) >= RESENDS_MAX
    ? `the callback was sent again ${RESENDS_MAX} times: fetch the job instead`
    : undefined
}
