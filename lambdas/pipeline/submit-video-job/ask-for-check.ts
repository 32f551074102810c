import { recordCheckAsked } from '#adapters/store/jobs/reference-check.ts'
import type { VideoChannel } from '#core/catalogue/channel.ts'
import { limitedReferences } from '#core/catalogue/limited-references.ts'
import { CHECKING_DEFINITION, type SubmitInput } from '#core/jobs/next-step.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import type { VideoJobRequest } from '#core/parameters/video-parameters.ts'
import type { StepContext } from '../step-context.ts'

type Offer = {
  readonly input: SubmitInput
  readonly job: VideoJob
  readonly request: VideoJobRequest
  readonly channel: VideoChannel
}

/**
 * Whether the references of a job are to be looked at before this channel may have it: once, where the channel wants it, the
 * model has limits for them, and the execution's definition knows the way there.
 */
export async function askForCheck({ input, job, request, channel }: Offer, context: StepContext): Promise<boolean> {
  const model = context.catalogue.findVideoModel(job.model)
  return (
    channel.reference_checks &&
    job.referenceCheck === undefined &&
    (input.definition ?? 1) >= CHECKING_DEFINITION &&
    model !== undefined &&
    limitedReferences(request, model).length > 0 &&
    (await recordCheckAsked(context.table, job))
  )
}
