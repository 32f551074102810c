import type { NextStep, PollInput } from '#core/jobs/next-step.ts'
import { openStepContext } from '../step-context.ts'
import { pollVideoJob } from './poll-video-job.ts'

const context = openStepContext()

/** State `Poll`. */
export async function handler(input: PollInput): Promise<NextStep> {
  return await pollVideoJob(input, context)
}
