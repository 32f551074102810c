import type { NextStep, StepInput } from '#core/jobs/next-step.ts'
import { openStepContext } from '../step-context.ts'
import { storeVideo } from './store-video.ts'

const context = openStepContext()

/** State `Store`. */
export async function handler(input: StepInput): Promise<NextStep> {
  return await storeVideo(input, context)
}
