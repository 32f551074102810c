import { checkCallbackUrl } from '#core/jobs/callback.ts'
import type { HttpResponse } from '../platform/http/send-once.ts'
import { RequestFailedError, RequestRefusedError, sendGuardedRequest } from './guard/guarded-request.ts'
import type { OutboundNetwork } from './guard/outbound-network.ts'

/** From the name lookup to the last byte that is read (Standard Webhooks asks for 15 to 30 s). */
export const CALLBACK_TOTAL_MILLISECONDS = 15_000

/** How much of a response is read and discarded before the connection is closed. */
export const CALLBACK_RESPONSE_BYTES_MAX = 4_096

/** One callback: its URL, its signed bytes, and the time for all of it. */
export type CallbackCommand = {
  readonly url: string
  /** Checked again here, because it may have shrunk since the job was created. */
  readonly allowlist: readonly string[]
  /** The bytes that were signed. */
  readonly body: string | Uint8Array
  readonly headers: Readonly<Record<string, string>>
  readonly totalMilliseconds?: number
} & Partial<OutboundNetwork>

/** The outcome of the one attempt. Reasons never hold the URL's path or query. */
export type CallbackDelivery =
  | { readonly outcome: 'delivered'; readonly status: number }
  | { readonly outcome: 'failed'; readonly status: number | undefined; readonly reason: string }

/**
 * Sends a callback: one POST, at most once, and no redirect is followed. Delivered means a 2xx response. Never throws.
 * The caller claims the delivery first, so a crash in between means no callback, never two.
 */
export async function sendCallback(command: CallbackCommand): Promise<CallbackDelivery> {
  const { url, allowlist, body, headers, totalMilliseconds = CALLBACK_TOTAL_MILLISECONDS, ...network } = command
  const check = checkCallbackUrl(url, allowlist)
  if (!check.allowed) {
    return { outcome: 'failed', status: undefined, reason: `the callback url ${check.reason}` }
  }
  const signal = AbortSignal.timeout(totalMilliseconds)
  try {
    const response = await sendGuardedRequest({
      ...network,
      url: check.url,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'Reelgate', ...headers },
      body,
      isTrustedOrigin: check.match === 'origin',
      replyMilliseconds: totalMilliseconds,
      signal,
    })
    await discard(response.body)
    return judge(response.status)
  } catch (error) {
    return { outcome: 'failed', status: undefined, reason: failureReason(error) }
  }
}

function judge(status: number): CallbackDelivery {
  if (status >= 200 && status <= 299) {
    return { outcome: 'delivered', status }
  }
  const isRedirect = status >= 300 && status <= 399
  return {
    outcome: 'failed',
    status,
    reason: isRedirect ? 'redirects are not followed' : `the receiver said ${status}`,
  }
}

/** Reads a short response to its end and cuts a long one. The status has already decided the outcome, so errors are ignored. */
async function discard(body: HttpResponse['body']): Promise<void> {
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      if (bytes >= CALLBACK_RESPONSE_BYTES_MAX) {
        return
      }
    }
  } catch {
    // Reset or out of time after the status line: the receiver has the callback.
  }
}

function failureReason(error: unknown): string {
  const isKnown = error instanceof RequestRefusedError || error instanceof RequestFailedError
  return isKnown ? error.message : 'the request failed'
}
