import type { NextStep, StepInput } from '#core/jobs/video-job.ts'
import { openStepContext, type StepContext } from './step-context.ts'

type Step = (input: StepInput, context: StepContext) => Promise<NextStep>

/** The handler of a state's function: a step with the context of the deployed function. */
export function stepHandler(step: Step): (input: StepInput) => Promise<NextStep> {
  const context = openStepContext()
  return (input) => step(input, context)
}
