import { readMediaBytes, readMediaFile } from '#adapters/outbound/read-media-file.ts'
import { recordReferenceRefused } from '#adapters/store/jobs/reference-check.ts'
import { count } from '#adapters/telemetry/count.ts'
import { jobFacts } from '#adapters/telemetry/job-facts.ts'
import { logger } from '#adapters/telemetry/logger.ts'
import { type LimitedReference, limitedReferences } from '#core/catalogue/limited-references.ts'
import type { Violation } from '#core/catalogue/reference-violation.ts'
import type { StepInput } from '#core/jobs/next-step.ts'
import { ReferenceRefusedError } from '#core/jobs/step-errors.ts'
import type { VideoJob } from '#core/jobs/video-job.ts'
import { referenceName } from '#core/media/reference-name.ts'
import { loadVideoJobRequest } from '../load-request.ts'
import { requireVideoJob } from '../require-job.ts'
import type { StepContext } from '../step-context.ts'
import { firstViolation } from './first-violation.ts'

/** For all references together, side by side: a client waits for the submit's answer meanwhile. */
const CHECK_MILLISECONDS_MAX = 4_000

type Found = { readonly reference: LimitedReference; readonly violation: Violation }

/**
 * Holds the headers of a job's references against the limits of its model, before a submit costs anything. What cannot be
 * read is left to the upstream, and a job that has moved on is left alone.
 * @throws ReferenceRefusedError when one of them breaks a limit for certain; the reason lies on the job then.
 */
export async function checkReferences(
  input: StepInput,
  context: StepContext,
  { totalMilliseconds = CHECK_MILLISECONDS_MAX }: { readonly totalMilliseconds?: number } = {},
): Promise<void> {
  const job = await requireVideoJob(context.table, input)
  const model = context.catalogue.findVideoModel(job.model)
  if (job.status !== 'queued' || job.submitState !== undefined || job.isDeleted || model === undefined) {
    return
  }
  const references = limitedReferences(await loadVideoJobRequest(context, job), model)
  const bound = AbortSignal.timeout(totalMilliseconds)
  const { found, unread } = await firstViolation(references, (url, signal) => read(url, context, signal), bound)
  for (const { place, because } of unread) {
    logger.info('reference not read', { ...jobFacts(job), reference: place, reason: because })
    count('reference_unread', { model: job.model })
  }
  if (found !== undefined) {
    await refuse(found, job, context)
  }
}

async function read(url: string, { catalogue, network }: StepContext, signal: AbortSignal) {
  if (/^data:/i.test(url)) {
    return readMediaBytes(Buffer.from(url.slice(url.indexOf(',') + 1), 'base64'))
  }
  const trustedOrigins = catalogue.config.trusted_origins
  return await readMediaFile({ url, trustedOrigins, signal, answerMilliseconds: CHECK_MILLISECONDS_MAX, ...network })
}

/** The log names the place and the limit; the file's name is for the client alone. */
async function refuse({ reference, violation }: Found, job: VideoJob, context: StepContext): Promise<void> {
  const failure = `${referenceName(reference.place, reference.url)} ${violation.words}`
  if (await recordReferenceRefused(context.table, job, failure)) {
    logger.info('reference refused', { ...jobFacts(job), reference: reference.place, limit: violation.limit })
    count('reference_refused', { model: job.model, reason: violation.limit })
    throw new ReferenceRefusedError('a reference breaks a limit of the model')
  }
}
