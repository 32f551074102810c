import { InvalidRequestError } from '../errors.ts'
import { isJobId } from './job-id.ts'

/** Page size and positions of a listing (docs/decisions/0009). */
const LIMIT = { default: 20, max: 100 } as const
const OFFSET_MAX = 10_000

/** Which jobs to list: at most `limit`, after skipping `offset`, older than the job `after`. */
export type ListQuery = { readonly limit: number; readonly offset: number; readonly after: string | undefined }

type RawQuery = Readonly<Record<string, string | undefined>>

/**
 * Reads the query of a listing. Senseless limits and offsets fall back to their defaults, as lenient clients expect.
 * @throws InvalidRequestError for an offset beyond what a listing skips, and a cursor that is no UUID.
 */
export function parseListQuery(query: RawQuery): ListQuery {
  const limit = wholeNumber(query.limit)
  const offset = wholeNumber(query.offset) ?? 0
  const after = query.after?.toLowerCase()
  if (offset > OFFSET_MAX) {
    throw new InvalidRequestError([
      { path: 'offset', message: `offset must be at most ${OFFSET_MAX}; go on with after=<last_id> from there` },
    ])
  }
  if (after !== undefined && !isJobId(after)) {
    throw new InvalidRequestError([{ path: 'after', message: 'after must be the id of a job' }])
  }
  return {
    limit: limit === undefined || limit < 1 ? LIMIT.default : Math.min(limit, LIMIT.max),
    offset: Math.max(0, offset),
    after,
  }
}

/** Whole decimal numbers only; everything else counts as missing. */
function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined
}
