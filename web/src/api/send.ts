import { isReachable } from '../state/reachability.ts'
import { ApiError } from './api-error.ts'

/**
 * Sends a request, and notes for the whole page whether the gateway was reached.
 * @throws ApiError with status 0 if there is no response; the error of the signal if the request was stopped.
 */
export async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    const response = await fetch(url, init)
    isReachable.set(true)
    return response
  } catch (error) {
    init.signal?.throwIfAborted()
    isReachable.set(false)
    throw new ApiError('the gateway did not respond', { status: 0, cause: error })
  }
}
