import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { resolveVideoJob, settlementOf } from '../resolve-video-job.ts'
import type { StepContext } from '../step-context.ts'

/** Bills a finished job and ends it, in one transaction. */
export async function settleVideoJob(input: StepInput, context: StepContext): Promise<NextStep> {
  await resolveVideoJob(input, context, (job, reservation) => settlementOf(job, reservation, context))
  return { step: 'done' }
}
