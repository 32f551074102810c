import { useInfiniteQuery, useQuery } from '@tanstack/preact-query'
import { fillPath } from '../core/fill-path.ts'
import { type ListPage, leftOutOf, toListPage } from '../core/list-pages.ts'
import { unixSecondsOf } from '../core/time.ts'
import { adminPages } from './admin-pages.ts'
import { adminRequest, type Query } from './admin-request.ts'
import type { AdminPath, AdminReads, RowOf } from './admin-types.ts'
import type { ApiError } from './api-error.ts'

type Options = {
  readonly query?: Query | undefined
  /** False while the page does not know yet what to ask for. */
  readonly isEnabled?: boolean
  /** How often the data is asked for again while the page is visible; absent means never. */
  readonly everyMilliseconds?: number | undefined
}

/** The rows of a list as far as they are loaded, and what a table needs to show them. */
export type List<Row> = {
  readonly rows: readonly Row[]
  readonly isLoading: boolean
  /** Rows of other filters stay, greyed, until the new ones arrive. */
  readonly isStale: boolean
  readonly error: ApiError | null
  readonly hasMore: boolean
  readonly isLoadingMore: boolean
  readonly loadMore: () => void
  readonly reload: () => void
  /** Unix seconds of the first page; null before it. */
  readonly asOf: number | null
  /** What the rows do not contain, in a sentence of the gateway; null if they are whole. */
  readonly leftOut: string | null
  /** Every row of these filters, page by page, from the first one. @throws ApiError; the error of the signal. */
  readonly pages: (signal: AbortSignal) => AsyncIterable<ListPage<Row>>
}

const ROWS_PER_PAGE = 50

/** Reads one object of the admin API. The path is a template; its `{...}` parts are taken from `parameters`. */
export function useAdmin<Path extends AdminPath>(
  path: Path,
  { query = {}, isEnabled = true, everyMilliseconds }: Options = {},
  parameters: Readonly<Record<string, string>> = {},
) {
  return useQuery<AdminReads[Path], ApiError>({
    queryKey: [path, parameters, query],
    queryFn: async ({ signal }) =>
      (await adminRequest(fillPath(path, parameters), { query, signal })) as AdminReads[Path],
    enabled: isEnabled,
    ...(everyMilliseconds === undefined ? {} : { refetchInterval: everyMilliseconds }),
  })
}

/** Reads a list of the admin API, page by page. */
export function useAdminList<Path extends AdminPath>(path: Path, options: Options = {}): List<RowOf<Path>> {
  const { query = {}, isEnabled = true, everyMilliseconds } = options
  const result = useInfiniteQuery<ListPage<RowOf<Path>>, ApiError>({
    queryKey: [path, 'list', query],
    queryFn: async ({ pageParam, signal }) =>
      toListPage<RowOf<Path>>(
        Object(
          await adminRequest(path, {
            query: { ...query, limit: ROWS_PER_PAGE, after: pageParam as string | undefined },
            signal,
          }),
        ),
      ),
    initialPageParam: undefined,
    getNextPageParam: ({ has_more, next }) => (has_more && next !== null ? next : undefined),
    enabled: isEnabled,
    placeholderData: (previous) => previous,
    refetchInterval: ({ state }) =>
      everyMilliseconds !== undefined && state.data?.pages.length === 1 ? everyMilliseconds : false,
  })
  const pages = result.data?.pages ?? []
  return {
    rows: pages.flatMap(({ data }) => data),
    isLoading: isEnabled && result.isPending,
    isStale: result.isPlaceholderData || (result.isError && pages.length > 0),
    error: result.error,
    hasMore: result.hasNextPage,
    isLoadingMore: result.isFetchingNextPage,
    loadMore: () => void result.fetchNextPage(),
    reload: () => void result.refetch(),
    asOf: pages[0]?.as_of === undefined ? null : unixSecondsOf(pages[0].as_of),
    leftOut: leftOutOf(pages),
    pages: (signal) => adminPages(path, query, signal),
  }
}
