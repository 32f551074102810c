import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { endFailedJob } from '../end-failed-job.ts'
import type { StepContext } from '../step-context.ts'

/** What the state machine adds when a step has thrown: the error's name decides the text when the record holds none. */
export type FailInput = StepInput & { readonly failure?: { readonly Error?: string } }

/** Ends the job and releases its reservation, in one transaction. */
export async function failVideoJob(input: FailInput, context: StepContext): Promise<NextStep> {
  const { tenantId, jobId, failure } = input
  await endFailedJob({ tenantId, jobId }, context, failure?.Error)
  return { step: 'done' }
}
