import { resolveVideoJob, settlementOf } from '#adapters/jobs/resolve-video-job.ts'
import type { StepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'

/** Bills a finished job and ends it, in one transaction. */
export async function settleVideoJob(input: StepInput, context: StepContext): Promise<NextStep> {
  await resolveVideoJob(input, context, (job, reservation) => settlementOf(job, reservation, context))
  return { step: 'done' }
}
