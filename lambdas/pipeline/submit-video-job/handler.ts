import { stepHandler } from '../step-handler.ts'
import { submitVideoJob } from './submit-video-job.ts'

/** State `Submit`. */
export const handler = stepHandler(submitVideoJob)
