import { InvalidRequestError, type RequestIssue } from '../errors.ts'
import { isJobId } from '../parameters/job-id.ts'
import { isSparse, type JobFilter } from './job-filter.ts'
import { VISIBLE_STATUSES } from './visible-status.ts'

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
    status: VISIBLE_STATUSES.find((status) => status === query.status),
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
      message: `\`offset\` must be at most ${OFFSET_MAX}: use after=<last_id> to go further`,
    })
  } else if (offset > 0 && isSparse(filter)) {
    // A page of a filter may end early, and an offset would have to begin anew on the next one.
    issues.push({
      path: 'offset',
      message: '`offset` cannot be combined with `status` or `model`: use after=<last_id>',
    })
  }
  if (after !== undefined && !isJobId(after)) {
    issues.push({ path: 'after', message: '`after` must be the id of a video job' })
  }
  return issues
}

function filterIssues({ status, model, created_after, created_before }: RawQuery): RequestIssue[] {
  const issues: RequestIssue[] = []
  if (status !== undefined && !VISIBLE_STATUSES.some((known) => known === status)) {
    issues.push({ path: 'status', message: `\`status\` must be one of ${VISIBLE_STATUSES.join(', ')}` })
  }
  if (model !== undefined && (model === '' || model.length > MODEL_CHARACTERS_MAX)) {
    issues.push({ path: 'model', message: '`model` must be the id of a model' })
  }
  for (const [path, value] of Object.entries({ created_after, created_before })) {
    if (value !== undefined && !isUnixTime(value)) {
      issues.push({ path, message: `\`${path}\` must be Unix seconds, a whole number such as 1795263797` })
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
