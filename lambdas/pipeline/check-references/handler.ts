import type { StepInput } from '#core/jobs/video-job.ts'
import { openStepContext } from '../step-context.ts'
import { checkReferences } from './check-references.ts'

const context = openStepContext()

/** State `CheckReferences`. */
export async function handler(input: StepInput): Promise<void> {
  await checkReferences(input, context)
}
