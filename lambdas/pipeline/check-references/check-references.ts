import {
  findViolation,
  type LimitedReference,
  limitedReferences,
  referenceName,
  type Violation,
} from '#core/catalogue/references.ts'
import { isUnwanted, type StepInput, type VideoJob } from '#core/jobs/video-job.ts'
import { jobFacts, logger } from '#platform/telemetry/logger.ts'
import { count } from '#platform/telemetry/measures.ts'
import { recordReferenceRefused } from '#store/jobs/job-progress.ts'
import { type MediaFile, readMediaBytes, readMediaFile } from '#upstream/guard/read-media-file.ts'
import { loadVideoJobRequest, requireVideoJob, type StepContext } from '../step-context.ts'

type ReadFile = (url: string, signal: AbortSignal) => Promise<MediaFile>

/** The first violation, and the references before it (without one, all references) that could not be read. */
type Checked = {
  readonly found: { readonly reference: LimitedReference; readonly violation: Violation } | undefined
  readonly unread: readonly { readonly place: string; readonly because: string }[]
}

/**
 * Reads the files of references in parallel, each url once, and finds the first reference, in the order of the request, that
 * breaks a limit. The result does not depend on which file arrives first: a violation stops only the reads of later
 * references, and earlier ones are awaited until `signal` aborts them all.
 */
export async function firstViolation(
  references: readonly LimitedReference[],
  readFile: ReadFile,
  signal: AbortSignal,
): Promise<Checked> {
  const readings = new Map<string, { firstIndex: number; stop: AbortController; file: Promise<MediaFile> }>()
  for (const [firstIndex, { url }] of references.entries()) {
    if (!readings.has(url)) {
      const stop = new AbortController()
      readings.set(url, { firstIndex, stop, file: readFile(url, AbortSignal.any([signal, stop.signal])) })
    }
  }
  const stopBehind = (index: number) => {
    for (const { firstIndex, stop } of readings.values()) {
      if (firstIndex > index) {
        stop.abort()
      }
    }
  }
  const checked = await Promise.all(
    references.map(async (reference, index) => {
      const { facts = {}, unreadBecause } = (await readings.get(reference.url)?.file) ?? {}
      const violation = findViolation(facts, reference.limits)
      if (violation !== undefined) {
        stopBehind(index)
      }
      return { reference, violation, unreadBecause }
    }),
  )
  return inOrder(checked)
}

type Read = {
  readonly reference: LimitedReference
  readonly violation: Violation | undefined
  readonly unreadBecause: string | undefined
}

/** Drops the references after the first violation: whether they were still read is chance. */
function inOrder(checked: readonly Read[]): Checked {
  const index = checked.findIndex(({ violation }) => violation !== undefined)
  const upToIt = index < 0 ? checked : checked.slice(0, index + 1)
  const { reference, violation } = checked[index] ?? {}
  return {
    found: reference && violation && { reference, violation },
    unread: upToIt.flatMap(({ reference: { place }, unreadBecause }) =>
      unreadBecause === undefined ? [] : [{ place, because: unreadBecause }],
    ),
  }
}

/** For all references together, read in parallel: the client is waiting for the result of the submit. */
export const CHECK_MILLISECONDS_MAX = 4_000

/** A reference breaks a limit of its model; the record names it. */
class ReferenceRefusedError extends Error {
  override readonly name = 'ReferenceRefusedError'
}

type Found = { readonly reference: LimitedReference; readonly violation: Violation }

/**
 * Compares the headers of a job's references with the limits of its model, before a submit costs anything. References that
 * cannot be read are left to the upstream. A job that is no longer waiting for its submit is left alone.
 * @throws ReferenceRefusedError when a reference certainly breaks a limit. The reason is then on the record.
 */
export async function checkReferences(
  input: StepInput,
  context: StepContext,
  { totalMilliseconds = CHECK_MILLISECONDS_MAX }: { readonly totalMilliseconds?: number } = {},
): Promise<void> {
  const job = await requireVideoJob(context.table, input)
  const model = context.catalogue.findConfiguredVideoModel(job.model)
  if (job.status !== 'queued' || job.submitState !== undefined || isUnwanted(job) || model === undefined) {
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
  return await readMediaFile({ url, trustedOrigins, signal, replyMilliseconds: CHECK_MILLISECONDS_MAX, ...network })
}

/** The log gets the reference's place and the limit. Only the client sees the name of the file. */
async function refuse({ reference, violation }: Found, job: VideoJob, context: StepContext): Promise<void> {
  const failure = `${referenceName(reference.place, reference.url)} ${violation.words}`
  if (await recordReferenceRefused(context.table, job, failure)) {
    logger.info('reference refused', { ...jobFacts(job), reference: reference.place, limit: violation.limit })
    count('reference_refused', { model: job.model, reason: violation.limit })
    throw new ReferenceRefusedError('a reference breaks a limit of the model')
  }
}
