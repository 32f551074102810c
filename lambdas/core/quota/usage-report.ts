import { formatCredits } from '../money/money.ts'
import { writeUsageCursor } from '../parameters/usage-cursor.ts'
import type { UsageQuery } from '../parameters/usage-query.ts'
import { compareValues, type UsageGroup, UsageGroups } from './group-usage.ts'
import type { UsageCounter, UsageSums } from './usage-counter.ts'
import { usageView } from './usage-view.ts'

/** The body of `GET /v1/usage`: one page of groups, and the total of all pages. */
export function usageReport(counters: Iterable<UsageCounter>, query: UsageQuery) {
  const { from, to, groupBy, limit, after } = query
  const groups = new UsageGroups(groupBy)
  for (const counter of counters) {
    groups.add(counter)
  }
  const rest = groups.sorted().filter(({ values }) => after === undefined || compareValues(values, after) > 0)
  const page = rest.slice(0, limit)
  const last = page.at(-1)?.values
  const hasMore = rest.length > page.length
  const next = hasMore && last !== undefined ? writeUsageCursor({ from, to, groupBy, last }) : null
  return { ...usagePage(query, page, groups.total), has_more: hasMore, next }
}

type GroupedQuery = { readonly from: string; readonly to: string; readonly groupBy: readonly string[] }

/** A page of groups with the total of all pages, as a response shows them. */
export function usagePage({ from, to, groupBy }: GroupedQuery, page: readonly UsageGroup[], total: UsageSums) {
  return {
    object: 'list',
    from,
    to,
    group_by: groupBy,
    data: page.map(({ values, sums }) => ({
      ...Object.fromEntries(groupBy.map((dimension, index) => [dimension, values[index]])),
      ...usageSumsView(sums),
    })),
    total: usageSumsView(total),
  }
}

/** Sums as a response shows them. */
export function usageSumsView(sums: UsageSums) {
  return { requests: sums.requests, ...usageView(sums), cost: formatCredits(sums.cost) }
}
