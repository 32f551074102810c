import { resolveVideoJob, settlementOf } from '#adapters/jobs/resolve-video-job.ts'
import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'

const context = openStepContext()

/** State `Settle`: bills a finished job and ends it, in one transaction. */
export async function handler(input: StepInput): Promise<NextStep> {
  await resolveVideoJob(input, context, (job, reservation) => settlementOf(job, reservation, context))
  return { step: 'done' }
}
