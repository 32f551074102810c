const PAGE_SIZE = 10
const PAGE_MAX = 500

/** P2's list: the items are whole tasks, with urls and usage. */
export function p2ListBody(items: readonly Record<string, unknown>[], query: URLSearchParams): unknown {
  const pageNumber = pageValue(query.get('page_num'), 1)
  const pageSize = pageValue(query.get('page_size'), PAGE_SIZE)
  const taskIds = query.getAll('filter.task_ids')
  const filters = [
    ['status', query.get('filter.status')],
    ['model', query.get('filter.model')],
    ['service_tier', query.get('filter.service_tier') ?? 'default'],
  ] as const
  const found = items.filter(
    (item) =>
      filters.every(([member, wanted]) => wanted === null || item[member] === wanted) &&
      (taskIds.length === 0 || taskIds.some((taskId) => taskId === item.id)),
  )
  return { total: found.length, items: found.slice((pageNumber - 1) * pageSize, pageNumber * pageSize) }
}

function pageValue(text: string | null, fallback: number): number {
  return Math.min(PAGE_MAX, Math.max(1, Number(text) || fallback))
}
