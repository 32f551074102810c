import { InvalidRequestError } from '../errors.ts'
import { isJobId } from './job-id.ts'

/** Page size and positions of a listing (docs/decisions/0009). */
const LIMIT = { default: 20, max: 100 } as const
const OFFSET_MAX = 10_000

/** A page: at most `limit` jobs that are older than the job `after`, without the first `offset` of them. */
export type ListQuery = { readonly limit: number; readonly offset: number; readonly after: string | undefined }

type RawQuery = Readonly<Record<string, string | undefined>>

/**
 * Reads the query of a listing. An invalid `limit` or `offset` becomes its default.
 * @throws InvalidRequestError for an `offset` that is too large and an `after` that is no UUID.
 */
export function parseListQuery(query: RawQuery): ListQuery {
  const limit = wholeNumber(query.limit)
  const offset = wholeNumber(query.offset) ?? 0
  const after = query.after?.toLowerCase()
  if (offset > OFFSET_MAX) {
    throw new InvalidRequestError([
      { path: 'offset', message: `\`offset\` must be at most ${OFFSET_MAX}: use after=<last_id> to go further` },
    ])
  }
  if (after !== undefined && !isJobId(after)) {
    throw new InvalidRequestError([{ path: 'after', message: '`after` must be the id of a video job' }])
  }
  return {
    limit: limit === undefined || limit < 1 ? LIMIT.default : Math.min(limit, LIMIT.max),
    offset: Math.max(0, offset),
    after,
  }
}

/** Anything but a decimal integer counts as missing. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined
}
