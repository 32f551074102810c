import { type InjectedFields, type RawNumber, spliceInjected } from '../json/json-fields.ts'
import type { VideoJob } from './video-job.ts'

/** What a reader of a job needs besides the record. */
export type ViewContext = {
  readonly nowSeconds: number
  /** The upstream's latest answer, byte for byte; undefined before there is one. */
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

/** The body of the 201: the submit answer with status `queued`, whatever has happened since. */
export function createdJobBody(job: VideoJob, submitText: string | undefined): string {
  return spliceInjected(submitText, identityFields(job, 'queued'))
}

/** The body of a GET, also one element of a list: the latest upstream answer with the injected members spliced in. */
export function videoJobBody(job: VideoJob, context: ViewContext): string {
  if (context.nowSeconds >= job.expiresAt) {
    return spliceInjected(context.upstreamText, identityFields(job, 'expired'))
  }
  return spliceInjected(context.upstreamText, { ...identityFields(job, job.status), ...outcomeFields(job, context) })
}

/** The callback payload (docs/api.md, "Callback"). */
export function callbackBody(job: VideoJob, context: Pick<ViewContext, 'signUrl'>): string {
  return spliceInjected(undefined, { id: job.jobId, status: job.status, ...outcomeFields(job, context) })
}

function outcomeFields(job: VideoJob, { signUrl }: Pick<ViewContext, 'signUrl'>): InjectedFields {
  if (job.status === 'succeeded') {
    return { url: signUrl(job), duration_secs: durationMember(job.durationSeconds) }
  }
  return job.status === 'failed' ? { error: job.error ?? '' } : {}
}

/** Null where neither the upstream nor the file tells a length; JSON knows no leading zeros. */
function durationMember(text: string | undefined): RawNumber | null {
  return text === undefined || text === '' ? null : { rawJson: text.replace(/^0+(?=\d)/, '') }
}

/** A function's answer may have 6 MB, escaped into one JSON string; a page that would be larger ends early instead. */
const LIST_BYTES_MAX = 4_000_000

/** How many of the rendered jobs fit into one answer; at least one, so that every page moves on. */
export function countThatFit(jobs: readonly string[]): number {
  let bytes = 0
  const firstTooMany = jobs.findIndex((job) => {
    bytes += job.length
    return bytes > LIST_BYTES_MAX
  })
  return firstTooMany === -1 ? jobs.length : Math.max(1, firstTooMany)
}

/** The body of a listing; the jobs are texts already. `has_more` and `last_id` are additive. */
export function videoJobListBody(jobs: readonly string[], page: { hasMore: boolean; lastId: string | null }): string {
  return `{"object":"list","data":[${jobs.join(',')}],"has_more":${page.hasMore},"last_id":${JSON.stringify(page.lastId)}}`
}
