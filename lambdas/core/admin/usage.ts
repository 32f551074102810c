import { parseUsageQuery, USAGE_DIMENSIONS, UsageGroups, usagePage } from '../api/usage.ts'
import { InvalidRequestError } from '../errors.ts'
import type { PageQuery } from './page-query.ts'
import { firstSummaryDay, leftOutOf, type Summary } from './summary.ts'

/** Users are those of one tenant. */
const DIMENSIONS = [...USAGE_DIMENSIONS.filter((name) => name !== 'user'), 'tenant'] as const

type Dimension = (typeof DIMENSIONS)[number]

/** A query of the usage of all tenants, whose groups may also be tenants. */
type AllUsageQuery = {
  readonly from: string
  readonly to: string
  readonly groupBy: readonly Dimension[]
  readonly limit: number
  /** Groups before the page. */
  readonly skipped: number
}

/**
 * Reads the query of the usage of all tenants. A cursor counts groups, whose order does not change.
 * @throws InvalidRequestError naming the parameter.
 */
export function parseAllUsageQuery({ after, ...query }: PageQuery, today: string): AllUsageQuery {
  const names = (query.group_by ?? 'day').split(',')
  if (!names.every(isDimension) || new Set(names).size < names.length) {
    const message = `\`group_by\` must hold some of ${DIMENSIONS.join(', ')}, each once, separated by commas`
    throw new InvalidRequestError([{ path: 'group_by', message }])
  }
  const own = names.filter((name) => name !== 'tenant')
  const { from, to, limit } = parseUsageQuery({ ...query, group_by: own.length === 0 ? undefined : own.join() }, today)
  const skipped = after === undefined ? 0 : Number(/^\d{1,7}$/.exec(after)?.[0] ?? Number.NaN)
  if (Number.isNaN(skipped)) {
    throw new InvalidRequestError([{ path: 'after', message: '`after` must be `next` of the page before' }])
  }
  return { from, to, groupBy: names, limit, skipped }
}

function isDimension(name: string): name is Dimension {
  return DIMENSIONS.some((dimension) => dimension === name)
}

/** The usage of all tenants, as the usage of one. @param today UTC, `yyyy-mm-dd`. */
export function allUsage(summary: Summary, query: AllUsageQuery, today: string) {
  const { from, to, groupBy, limit, skipped } = query
  const groups = new UsageGroups(groupBy)
  for (const [day, usage] of summary.days) {
    for (const [tenant, counters] of day < from || day > to ? [] : usage) {
      for (const counter of counters) {
        groups.add({ ...counter, day }, tenant)
      }
    }
  }
  const sorted = groups.sorted()
  const page = sorted.slice(skipped, skipped + limit)
  const hasMore = sorted.length > skipped + page.length
  const first = firstSummaryDay(today)
  const oldDays = from < first ? `days before ${first}: choose a tenant, or npm run admin -- usage` : null
  const leftOut = [oldDays, leftOutOf(summary)].filter((part) => part !== null)
  return {
    ...usagePage(query, page, groups.total),
    has_more: hasMore,
    next: hasMore ? String(skipped + page.length) : null,
    as_of: new Date(summary.asOf).toISOString(),
    left_out: leftOut.length === 0 ? null : leftOut.join('; '),
  }
}
