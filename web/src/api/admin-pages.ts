import { type ListPage, listPages } from '../core/list-pages.ts'
import { adminRequest, type Query } from './admin-request.ts'
import { ApiError } from './api-error.ts'

/** The largest page of the API. */
const ROWS_PER_PAGE = 200

/** One page in hundreds may meet a short failure; three in a row are a long one. */
const TRIES = 3

const RETRY_SECONDS = 1

/**
 * Every page of a list of the admin API, one after another, without an end but that of the list.
 * @param path below `/admin/v1`.
 * @throws ApiError for a refusal, and for a failure that three tries have met; DOMException `AbortError` after the signal.
 */
export function adminPages<Row>(path: string, query: Query, signal: AbortSignal): AsyncGenerator<ListPage<Row>> {
  return listPages<Row>((after) => readPage(path, { query: { ...query, limit: ROWS_PER_PAGE, after }, signal }))
}

async function readPage<Row>(path: string, request: { readonly query: Query; readonly signal: AbortSignal }) {
  for (let tried = 1; ; tried += 1) {
    try {
      return (await adminRequest(path, request)) as ListPage<Row>
    } catch (error) {
      if (tried >= TRIES || !isPassing(error)) {
        throw error
      }
      await pause((error.retryAfterSeconds ?? RETRY_SECONDS) * 1000, request.signal)
    }
  }
}

/** Whether another try may succeed. */
function isPassing(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)
}

/** @throws DOMException `AbortError` as soon as the signal says so. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('stopped', 'AbortError'))
    })
  })
}
