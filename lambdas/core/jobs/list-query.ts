import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import { isJobId } from '../ids.ts'
import { isCancelled, JOB_LIFETIME_SECONDS, LISTED_STATUSES, type VideoJob, visibleStatus } from './video-job.ts'

/** Which jobs a listing shows. Times are Unix seconds. */
export type JobFilter = {
  /** As clients read it. */
  readonly status?: (typeof LISTED_STATUSES)[number] | undefined
  /** Public id. */
  readonly model?: string | undefined
  /** Inclusive. */
  readonly createdAfter?: number | undefined
  /** Exclusive. */
  readonly createdBefore?: number | undefined
}

/** Whether a listing shows a job. */
export function matchesFilter(job: VideoJob, filter: JobFilter, nowSeconds: number): boolean {
  const { status, model, createdAfter, createdBefore } = filter
  return (
    (status === undefined || hasStatus(job, status, nowSeconds)) &&
    (model === undefined || job.model === model) &&
    (createdAfter === undefined || job.createdAt >= createdAfter) &&
    (createdBefore === undefined || job.createdAt < createdBefore)
  )
}

function hasStatus(job: VideoJob, status: NonNullable<JobFilter['status']>, nowSeconds: number): boolean {
  const visible = visibleStatus(job, nowSeconds)
  return status === 'cancelled' ? visible === 'failed' && isCancelled(job) : visible === status
}

/** Whether most jobs of the filter's time may be left out, so that a page can need many reads. */
export function isSparse({ status, model }: JobFilter): boolean {
  return status !== undefined || model !== undefined
}

/** The creation times outside of which no job matches: `from` inclusive, `before` exclusive, Unix seconds. */
export function creationTimes(
  { status, createdAfter, createdBefore }: JobFilter,
  nowSeconds: number,
): { readonly from: number; readonly before: number } {
  // Jobs of the lifetime's last second are expired, so only older ones have any other status.
  const firstUnexpired = nowSeconds - JOB_LIFETIME_SECONDS + 1
  const from = status === undefined || status === 'expired' ? 0 : firstUnexpired
  const before = status === 'expired' ? firstUnexpired : Number.POSITIVE_INFINITY
  return { from: Math.max(from, createdAfter ?? 0), before: Math.min(before, createdBefore ?? before) }
}

/** Page size and positions of a listing. */
const LIMIT = { default: 20, max: 100 } as const
const OFFSET_MAX = 10_000

/** Longer than any model id. */
const MODEL_CHARACTERS_MAX = 128

/** The last second of the year 9999. */
const SECONDS_MAX = 253_402_300_799

/**
 * A page: at most `limit` jobs that match the filter and are older than the job `after`, without the first `offset` of them.
 */
export type ListQuery = {
  readonly limit: number
  readonly offset: number
  readonly after: string | undefined
  readonly filter: JobFilter
}

type RawQuery = Readonly<Record<string, string | undefined>>

/**
 * Reads the query of a listing. An invalid `limit` or `offset` becomes its default.
 * @throws InvalidRequestError for an `offset` that is too large, an `after` that is no UUID, and a wrong filter; it names each.
 */
export function parseListQuery(query: RawQuery): ListQuery {
  const limit = wholeNumber(query.limit)
  const offset = Math.max(0, wholeNumber(query.offset) ?? 0)
  const after = query.after?.toLowerCase()
  const filter = {
    status: LISTED_STATUSES.find((status) => status === query.status),
    model: query.model,
    createdAfter: wholeNumber(query.created_after),
    createdBefore: wholeNumber(query.created_before),
  }
  const issues = [...pageIssues({ offset, after, filter }), ...filterIssues(query)]
  if (issues.length > 0) {
    throw new InvalidRequestError(issues)
  }
  return {
    limit: limit === undefined || limit < 1 ? LIMIT.default : Math.min(limit, LIMIT.max),
    offset,
    after,
    filter,
  }
}

function pageIssues({ offset, after, filter }: Pick<ListQuery, 'offset' | 'after' | 'filter'>): RequestIssue[] {
  const issues: RequestIssue[] = []
  if (offset > OFFSET_MAX) {
    issues.push({
      path: 'offset',
      message: `the query parameter \`offset\` must be at most ${OFFSET_MAX}: use after=<last_id> to go further`,
    })
  } else if (offset > 0 && isSparse(filter)) {
    // A page of a filter may end early, and an offset would have to begin anew on the next one.
    issues.push({
      path: 'offset',
      message: 'the query parameter `offset` cannot be combined with `status` or `model`: use after=<last_id>',
    })
  }
  if (after !== undefined && !isJobId(after)) {
    issues.push({
      path: 'after',
      message: 'the query parameter `after` must be the id of a video job, such as `last_id` of the page before',
    })
  }
  return issues
}

function filterIssues({ status, model, created_after, created_before }: RawQuery): RequestIssue[] {
  const issues: RequestIssue[] = []
  if (status !== undefined && !LISTED_STATUSES.some((known) => known === status)) {
    issues.push({
      path: 'status',
      message: `the query parameter \`status\` must be one of ${LISTED_STATUSES.join(', ')}`,
    })
  }
  if (model !== undefined && (model === '' || model.length > MODEL_CHARACTERS_MAX)) {
    issues.push({ path: 'model', message: 'the query parameter `model` must be the id of a model' })
  }
  for (const [path, value] of Object.entries({ created_after, created_before })) {
    if (value !== undefined && !isUnixTime(value)) {
      issues.push({
        path,
        message: `the query parameter \`${path}\` must be Unix seconds, a whole number such as 1795263797`,
      })
    }
  }
  return issues
}

function isUnixTime(value: string): boolean {
  const seconds = wholeNumber(value)
  return seconds !== undefined && seconds >= 0 && seconds <= SECONDS_MAX
}

/** Anything but a decimal integer counts as missing. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined
}
