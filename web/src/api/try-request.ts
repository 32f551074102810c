import { tryAgain } from '../core/try-again.ts'
import { ApiError } from './api-error.ts'

const RETRY_SECONDS = 1

type Tries = {
  /** How often to try in all. */
  readonly tries: number
  readonly signal: AbortSignal
}

/**
 * Sends a request again after a failure that may pass: no response, a 429, or an error of the gateway.
 * @throws ApiError of a refusal at once, and of the last try; DOMException `AbortError` after the signal.
 */
export function tryRequest<Result>(attempt: () => Promise<Result>, { tries, signal }: Tries): Promise<Result> {
  return tryAgain(attempt, { tries, waitAfter, pause: (milliseconds) => pause(milliseconds, signal) })
}

function waitAfter(error: unknown): number | undefined {
  const isTransient = error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 500)
  return isTransient ? (error.retryAfterSeconds ?? RETRY_SECONDS) * 1000 : undefined
}

/** @throws DOMException `AbortError` as soon as the signal says so. */
export function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(new DOMException('stopped', 'AbortError'))
    })
  })
}
