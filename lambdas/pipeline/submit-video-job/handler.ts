import type { NextStep, StepInput } from '#core/jobs/video-job.ts'
import { openSubmitContext } from './submit-context.ts'
import { submitVideoJob } from './submit-video-job.ts'

const context = openSubmitContext()

/** State `Submit`. */
export function handler(input: StepInput): Promise<NextStep> {
  return submitVideoJob(input, context)
}
