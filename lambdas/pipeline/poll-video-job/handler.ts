import { stepHandler } from '../step-context.ts'
import { pollVideoJob } from './poll-video-job.ts'

/** State `Poll`. */
export const handler = stepHandler(pollVideoJob)
