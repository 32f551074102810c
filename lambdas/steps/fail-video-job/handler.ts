import { endFailedJob } from '#adapters/jobs/end-failed-job.ts'
import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'

const context = openStepContext()

/** What the state machine adds when a step has thrown: the error's name decides the text when the record holds none. */
type FailInput = StepInput & { readonly failure?: { readonly Error?: string } }

/** State `Fail`: ends the job and releases its reservation, in one transaction. */
export async function handler({ tenantId, jobId, failure }: FailInput): Promise<NextStep> {
  await endFailedJob({ tenantId, jobId }, context, failure?.Error)
  return { step: 'done' }
}
