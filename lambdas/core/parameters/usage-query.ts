import { InvalidRequestError } from '../errors.ts'
import { daysBefore, isDay } from './calendar-day.ts'
import { readUsageCursor, type UsageCursor } from './usage-cursor.ts'
import { readDimensions, USAGE_DIMENSIONS, type UsageDimension } from './usage-dimensions.ts'

/** Most days of one query, and the days without a `from`. */
const DAYS = { max: 92, default: 30 } as const

/** Most groups on a page, and the groups without a `limit`. */
const GROUPS_MAX = 1_000

/** A query of usage. Days are UTC, `yyyy-mm-dd`, both included. */
export type UsageQuery = {
  readonly from: string
  readonly to: string
  readonly groupBy: readonly UsageDimension[]
  readonly limit: number
  /** The last group of the page before; undefined for the first page. */
  readonly after: readonly string[] | undefined
}

type RawQuery = Readonly<Record<string, string | undefined>>

/**
 * Reads the query of `GET /v1/usage`. With `after`, parameters that are left out are those of the page before.
 * @param today UTC, `yyyy-mm-dd`.
 * @throws InvalidRequestError naming each wrong parameter.
 */
export function parseUsageQuery(query: RawQuery, today: string): UsageQuery {
  const cursor = query.after === undefined ? undefined : readCursor(query.after)
  const to = query.to === undefined ? (cursor?.to ?? today) : readDay('to', query.to)
  const from =
    query.from === undefined ? (cursor?.from ?? daysBefore(to, DAYS.default - 1)) : readDay('from', query.from)
  const groupBy = query.group_by === undefined ? (cursor?.groupBy ?? ['day']) : readGroupBy(query.group_by)
  const limit = query.limit === undefined ? GROUPS_MAX : readLimit(query.limit)
  refuseRange(from, to)
  if (cursor !== undefined && !isSameQuery(cursor, { from, to, groupBy })) {
    throw invalid('after', CURSOR_MESSAGE)
  }
  return { from, to, groupBy, limit, after: cursor?.last }
}

const CURSOR_MESSAGE = '`after` must be `next` of the page before, with the same `from`, `to` and `group_by`'

function readCursor(text: string): UsageCursor {
  const cursor = readUsageCursor(text)
  if (cursor === undefined) {
    throw invalid('after', CURSOR_MESSAGE)
  }
  return cursor
}

function isSameQuery(cursor: UsageCursor, { from, to, groupBy }: Omit<UsageCursor, 'last'>): boolean {
  return cursor.from === from && cursor.to === to && cursor.groupBy.join() === groupBy.join()
}

function readDay(name: 'from' | 'to', text: string): string {
  if (!isDay(text)) {
    throw invalid(name, `\`${name}\` must be a day in UTC, such as 2026-11-01`)
  }
  return text
}

function readGroupBy(text: string): readonly UsageDimension[] {
  const dimensions = readDimensions(text)
  if (dimensions === undefined) {
    const allowed = USAGE_DIMENSIONS.join(', ')
    throw invalid('group_by', `\`group_by\` must hold some of ${allowed}, each once, separated by commas`)
  }
  return dimensions
}

function readLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit < 1 || limit > GROUPS_MAX) {
    throw invalid('limit', `\`limit\` must be a whole number from 1 to ${GROUPS_MAX}`)
  }
  return limit
}

function refuseRange(from: string, to: string): void {
  if (from > to) {
    throw invalid('from', '`from` must not be after `to`')
  }
  if (from < daysBefore(to, DAYS.max - 1)) {
    throw invalid(
      'from',
      `\`from\` must be at most ${DAYS.max - 1} days before \`to\`: a range has at most ${DAYS.max} days`,
    )
  }
}

function invalid(path: string, message: string): InvalidRequestError {
  return new InvalidRequestError([{ path, message }])
}
