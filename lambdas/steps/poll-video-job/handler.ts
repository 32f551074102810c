import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { pollVideoJob } from './poll-video-job.ts'

const context = openStepContext()

/** State `Poll`. */
export async function handler(input: StepInput): Promise<NextStep> {
  return await pollVideoJob(input, context)
}
