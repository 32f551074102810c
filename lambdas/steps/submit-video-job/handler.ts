import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, SubmitInput } from '#core/jobs/next-step.ts'
import { submitVideoJob } from './submit-video-job.ts'

const context = openStepContext()

/** State `Submit`. */
export async function handler(input: SubmitInput): Promise<NextStep> {
  return await submitVideoJob(input, context)
}
