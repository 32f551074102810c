import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { submitVideoJob } from './submit-video-job.ts'

const context = openStepContext()

/** State `Submit`. */
export async function handler(input: StepInput): Promise<NextStep> {
  return await submitVideoJob(input, context)
}
