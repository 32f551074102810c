import { isCancelled, unexpiredStatus, type VideoJob, visibleError, visibleStatus } from '../jobs/video-job.ts'
import { type InjectedFields, type RawNumber, spliceInjected } from '../json/json-fields.ts'

/** What a response needs besides the record. */
export type ViewContext = {
  readonly nowSeconds: number
  /** The upstream's latest reply, byte for byte; undefined before the first. */
  readonly upstreamText: string | undefined
  /** Signed CDN url that ends at `expires_at`. Called for a succeeded job only. */
  readonly signUrl: (job: VideoJob) => string
}

function identityFields(job: VideoJob, status: string): InjectedFields {
  return {
    id: job.jobId,
    object: 'video.generation',
    status,
    model: job.model,
    created_at: job.createdAt,
    expires_at: job.expiresAt,
  }
}

/** The body of the 201: the reply to the submit with status `queued`, whatever has happened since. */
export function createdJobBody(job: VideoJob, submitText: string | undefined): string {
  return spliceInjected(submitText, identityFields(job, 'queued'))
}

/** The body of a GET, and one element of a list: the latest upstream reply with the injected fields spliced in. */
export function videoJobBody(job: VideoJob, context: ViewContext): string {
  const status = visibleStatus(job, context.nowSeconds)
  const outcome = status === 'expired' ? {} : outcomeFields(job, context)
  const reason = status === 'failed' ? reasonFields(job) : {}
  return spliceInjected(context.upstreamText, { ...identityFields(job, status), ...outcome, ...reason })
}

function reasonFields(job: VideoJob): InjectedFields {
  if (isCancelled(job)) {
    return { cancelled: true }
  }
  return job.errorCode === undefined ? {} : { error_code: job.errorCode }
}

/** The callback payload (docs/api.md, "Callback"). */
export function callbackBody(job: VideoJob, context: Pick<ViewContext, 'signUrl'>): string {
  return spliceInjected(undefined, { id: job.jobId, status: unexpiredStatus(job), ...outcomeFields(job, context) })
}

function outcomeFields(job: VideoJob, { signUrl }: Pick<ViewContext, 'signUrl'>): InjectedFields {
  const status = unexpiredStatus(job)
  if (status === 'succeeded') {
    return { url: signUrl(job), duration_secs: durationField(job.durationSeconds) }
  }
  return status === 'failed' ? { error: visibleError(job) } : {}
}

/** Null when neither the upstream nor the file has a length. JSON allows no leading zeros. */
function durationField(text: string | undefined): RawNumber | null {
  return text === undefined || text === '' ? null : { rawJson: text.replace(/^0+(?=\d)/, '') }
}

/** A function's response may have 6 MB, escaped into one JSON string. A larger page ends early. */
const LIST_BYTES_MAX = 4_000_000

/** How many of the rendered jobs fit into one response; at least one, so that every page moves on. */
export function countThatFit(jobs: readonly string[]): number {
  let bytes = 0
  const firstTooMany = jobs.findIndex((job) => {
    bytes += job.length
    return bytes > LIST_BYTES_MAX
  })
  return firstTooMany === -1 ? jobs.length : Math.max(1, firstTooMany)
}

/** The body of a list. The jobs are already JSON strings. `has_more` and `last_id` are additions to the interface. */
export function videoJobListBody(jobs: readonly string[], page: { hasMore: boolean; lastId: string | null }): string {
  return `{"object":"list","data":[${jobs.join(',')}],"has_more":${page.hasMore},"last_id":${JSON.stringify(page.lastId)}}`
}
