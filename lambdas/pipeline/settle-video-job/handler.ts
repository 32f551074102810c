import { stepHandler } from '../step-handler.ts'
import { settleVideoJob } from './settle-video-job.ts'

/** State `Settle`. */
export const handler = stepHandler(settleVideoJob)
