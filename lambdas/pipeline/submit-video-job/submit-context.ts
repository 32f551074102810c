import { CurrentCatalogue } from '#store/current-catalogue.ts'
import { openStepContext, type StepContext } from '../step-context.ts'

/** What Submit takes from outside. Only this step asks for the switches: a disabled channel gets no new job, and its open jobs go on. */
export type SubmitContext = StepContext & {
  readonly currentCatalogue: Pick<CurrentCatalogue, 'read' | 'readBeside'>
}

/** The context of the deployed function, from its environment. */
export function openSubmitContext(): SubmitContext {
  const context = openStepContext()
  return { ...context, currentCatalogue: new CurrentCatalogue(context) }
}
