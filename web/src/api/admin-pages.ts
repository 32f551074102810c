import { type ListPage, listPages } from '../core/list-pages.ts'
import { tryAgain } from '../core/try-again.ts'
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

function readPage<Row>(path: string, request: { readonly query: Query; readonly signal: AbortSignal }) {
  return tryAgain(async () => (await adminRequest(path, request)) as ListPage<Row>, {
    tries: TRIES,
    waitAfter,
    pause: (milliseconds) => pause(milliseconds, request.signal),
  })
}

/** A refusal stays one. */
function waitAfter(error: unknown): number | undefined {
  const isPassing = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)
  return isPassing ? (error.retryAfterSeconds ?? RETRY_SECONDS) * 1000 : undefined
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
