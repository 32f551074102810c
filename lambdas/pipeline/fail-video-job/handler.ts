import { failVideoJob } from '../fail-video-job.ts'
import { stepHandler } from '../step-handler.ts'

/** State `Fail`. */
export const handler = stepHandler(failVideoJob)
