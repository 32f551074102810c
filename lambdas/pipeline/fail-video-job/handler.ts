import { failVideoJob } from '../resolve-video-job.ts'
import { stepHandler } from '../step-context.ts'

/** State `Fail`. */
export const handler = stepHandler(failVideoJob)
