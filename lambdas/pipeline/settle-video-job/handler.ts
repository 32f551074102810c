import { settleVideoJob } from '../settle-video-job.ts'
import { stepHandler } from '../step-handler.ts'

/** State `Settle`. */
export const handler = stepHandler(settleVideoJob)
