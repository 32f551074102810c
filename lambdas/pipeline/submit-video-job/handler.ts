import type { NextStep, StepInput } from '#core/jobs/video-job.ts'
import { openSubmitContext, submitVideoJob } from './submit-video-job.ts'

const context = openSubmitContext()

/** State `Submit`. */
export function handler(input: StepInput): Promise<NextStep> {
  return submitVideoJob(input, context)
}
