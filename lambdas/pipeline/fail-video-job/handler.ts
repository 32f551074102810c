import type { NextStep } from '#core/jobs/next-step.ts'
import { openStepContext } from '../step-context.ts'
import { type FailInput, failVideoJob } from './fail-video-job.ts'

const context = openStepContext()

/** State `Fail`. */
export async function handler(input: FailInput): Promise<NextStep> {
  return await failVideoJob(input, context)
}
