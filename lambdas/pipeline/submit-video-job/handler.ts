import type { NextStep, SubmitInput } from '#core/jobs/next-step.ts'
import { openStepContext } from '../step-context.ts'
import { submitVideoJob } from './submit-video-job.ts'

const context = openStepContext()

/** State `Submit`. */
export async function handler(input: SubmitInput): Promise<NextStep> {
  return await submitVideoJob(input, context)
}
