import { openStepContext } from '#adapters/jobs/step-context.ts'
import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { storeVideo } from './store-video.ts'

const context = openStepContext()

/** State `Store`. */
export async function handler(input: StepInput): Promise<NextStep> {
  return await storeVideo(input, context)
}
