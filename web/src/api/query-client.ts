import { QueryClient } from '@tanstack/preact-query'
import { ApiError } from './api-error.ts'

/** Data younger than this is shown without another request. */
const FRESH_MILLISECONDS = 5_000

/** A second try hides a short failure of the gateway; a refusal stays one. */
function shouldRetry(failures: number, error: unknown): boolean {
  return failures < 1 && !(error instanceof ApiError && error.status > 0 && error.status < 500)
}

/** The name of the query for who is signed in. */
export const SESSION = ['session']

/** The cache of the console. Requests are sent even where the browser believes to be offline: the gateway may be on this machine. */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      refetchOnWindowFocus: false,
      retry: shouldRetry,
      retryDelay: 800,
      staleTime: FRESH_MILLISECONDS,
    },
    mutations: { networkMode: 'always', retry: false },
  },
})
