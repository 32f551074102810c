import { type ListPage, onePage } from '../core/list-pages.ts'
import { type ApiTime, unixSecondsOf } from '../core/time.ts'
import type { List } from './admin-query.ts'
import type { ApiError } from './api-error.ts'

type WholeResult = {
  readonly isPending: boolean
  readonly isError: boolean
  readonly error: ApiError | null
  readonly refetch: () => unknown
}

/** Rows of an object that arrives whole, for a table. */
export function listOf<Row>(
  result: WholeResult,
  rows: readonly Row[] | undefined,
  asOf: ApiTime | undefined,
): List<Row> {
  return {
    rows: rows ?? [],
    isLoading: result.isPending,
    isStale: result.isError && rows !== undefined,
    error: result.error,
    hasMore: false,
    isLoadingMore: false,
    loadMore: () => {},
    reload: () => void result.refetch(),
    asOf: asOf === undefined ? null : unixSecondsOf(asOf),
    leftOut: null,
    pages: () => inHand(rows ?? []),
  }
}

/** Rows in hand, for what takes pages as they come. */
export async function* inHand<Row>(rows: readonly Row[], leftOut: string | null = null): AsyncGenerator<ListPage<Row>> {
  yield onePage(rows, leftOut)
}
