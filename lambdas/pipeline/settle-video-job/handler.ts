import { settleVideoJob } from '../resolve-video-job.ts'
import { stepHandler } from '../step-context.ts'

/** State `Settle`. */
export const handler = stepHandler(settleVideoJob)
