import { FAILING_DEFINITION, type NextStep, type StepInput } from '#core/jobs/next-step.ts'
import { openStepContext, type StepContext } from './step-context.ts'

type Step<Context> = (input: StepInput, context: Context) => Promise<NextStep>

/** The handler of a state's function: a step with the context of the deployed function. */
export function stepHandler(step: Step<StepContext>): (input: StepInput) => Promise<NextStep> {
  const context = openStepContext()
  return (input) => runStep(step, input, context)
}

/**
 * Runs a step and returns its result as the execution's definition understands it. Definitions before the third catch a
 * failed job as an error; those executions end within 14 hours of the deployment that brought the third, and with them the
 * need for this translation.
 * @throws JobFailedError in such an execution when the job fails; what the step throws.
 */
export async function runStep<Context>(step: Step<Context>, input: StepInput, context: Context): Promise<NextStep> {
  const next = await step(input, context)
  if (next.step === 'fail' && (input.definition ?? 1) < FAILING_DEFINITION) {
    throw new JobFailedError(next.error)
  }
  return next
}

/** Goes by the name of the failure, which is what Retry and Catch match. */
class JobFailedError extends Error {
  constructor(failure: string) {
    super('the job fails; its record holds the reason')
    this.name = failure
  }
}
