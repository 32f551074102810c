import { stepHandler } from '../step-handler.ts'
import { failVideoJob } from './fail-video-job.ts'

/** State `Fail`. */
export const handler = stepHandler(failVideoJob)
