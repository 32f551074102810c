import { type ListPage, listPages, toListPage } from '../core/list-pages.ts'
import { adminRequest, type Query } from './admin-request.ts'
import { tryRequest } from './try-request.ts'

/** The largest page of the API. */
const ROWS_PER_PAGE = 200

/** One page in hundreds may meet a short failure; three in a row are a long one. */
const TRIES = 3

/**
 * Every page of a list of the admin API, one after another, without an end but that of the list.
 * @param path below `/admin/v1`.
 * @throws ApiError for a refusal, and for a failure that three tries have met; DOMException `AbortError` after the signal.
 */
export function adminPages<Row>(path: string, query: Query, signal: AbortSignal): AsyncGenerator<ListPage<Row>> {
  return listPages<Row>((after) => readPage(path, { query: { ...query, limit: ROWS_PER_PAGE, after }, signal }))
}

function readPage<Row>(path: string, request: { readonly query: Query; readonly signal: AbortSignal }) {
  const attempt = async () => toListPage<Row>(Object(await adminRequest(path, request)))
  return tryRequest(attempt, { tries: TRIES, signal: request.signal })
}
