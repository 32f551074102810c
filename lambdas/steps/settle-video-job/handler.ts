import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { settleVideoJob } from './settle-video-job.ts'

const context = openStepContext()

/** State `Settle`. */
export async function handler(input: StepInput): Promise<NextStep> {
  return await settleVideoJob(input, context)
}
