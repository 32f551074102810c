import { stepHandler } from '../step-handler.ts'
import { pollVideoJob } from './poll-video-job.ts'

/** State `Poll`. */
export const handler = stepHandler(pollVideoJob)
