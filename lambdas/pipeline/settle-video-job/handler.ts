import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { openStepContext } from '../step-context.ts'
import { settleVideoJob } from './settle-video-job.ts'

const context = openStepContext()

/** State `Settle`. */
export async function handler(input: StepInput): Promise<NextStep> {
  return await settleVideoJob(input, context)
}
