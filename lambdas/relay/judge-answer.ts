import type { IncomingHttpHeaders } from 'node:http'
import { retryAfterSeconds } from '#adapters/http/retry-after.ts'
import type { UpstreamAnswer } from '#adapters/http/upstream-attempt.ts'
import { memberAt, parseJson } from '#adapters/providers/video/json-reading.ts'
import { errorReason, isKeyRefused, readUpstreamError } from '#adapters/providers/video/upstream-error.ts'
import { isRequestId } from '#core/request-id.ts'
import { judgeRefusal } from './refusal-verdict.ts'

/** Why a channel did not take a request. */
export type ChannelFailure = {
  /**
   * `busy`: it asks for patience. `refused`: it refuses the gateway itself. `failed`: it is out of order or out of reach.
   * `timeout`: it has the request and did not begin to answer, so it may be at work.
   */
  readonly kind: 'busy' | 'refused' | 'failed' | 'timeout'
  /** For the log: a code or a few words of ours. */
  readonly reason: string
  readonly upstreamRequestId?: string | undefined
  /** Of a refusal: it is about the key, so that another key may help. */
  readonly isKeyRefused?: boolean | undefined
  /** What a busy channel asks for. */
  readonly retryAfterSeconds?: number | undefined
}

/** How long the body of an error may take that decides about the next channel. It nearly always comes with its head. */
const ERROR_BODY_MILLISECONDS = 1_000

/** Successes that by their definition have no content, and so no answer: whatever sent them did not do the work. */
const WITHOUT_CONTENT: ReadonlySet<number> = new Set([204, 205])

/**
 * Whether an answer is to be relayed: every 2xx with content, and a 4xx about the request, whose body stays unread. Any other is let
 * go of: its connection stays in the pool when its body has come whole.
 * @returns undefined for an answer to relay
 */
export async function judgeAnswer(
  { status, headers, body }: UpstreamAnswer,
  nowUnixMilliseconds: number,
): Promise<ChannelFailure | undefined> {
  const upstreamRequestId = upstreamRequestIdOf(headers)
  if (isCompressed(headers)) {
    // Identity was asked for, and whoever looks for the usage reads plain bytes.
    body.destroy()
    return { kind: 'failed', reason: 'compressed answer', upstreamRequestId }
  }
  if (WITHOUT_CONTENT.has(status)) {
    body.destroy()
    return { kind: 'failed', reason: `HTTP ${status}`, upstreamRequestId }
  }
  if (status >= 200 && status < 300) {
    return undefined
  }
  const json = parseJson((await body.peek(ERROR_BODY_MILLISECONDS)).toString('utf8'))
  const error = readUpstreamError(json)
  const hasError = (memberAt(json, 'error') ?? error.code ?? null) !== null
  const verdict = judgeRefusal({ status, error, hasError })
  if (verdict === 'request') {
    return undefined
  }
  body.destroy()
  const seconds = verdict === 'busy' ? retryAfterSeconds(headers['retry-after'], nowUnixMilliseconds) : undefined
  return {
    kind: verdict,
    reason: errorReason(status, error),
    upstreamRequestId,
    isKeyRefused: verdict === 'refused' && isKeyRefused(status, error),
    retryAfterSeconds: seconds,
  }
}

/** The upstream's own id of a request (`x-request-id`); anything else under that name is not for our logs. */
export function upstreamRequestIdOf(headers: IncomingHttpHeaders): string | undefined {
  const id = headers['x-request-id']
  return isRequestId(id) ? id : undefined
}

function isCompressed(headers: IncomingHttpHeaders): boolean {
  const coding = headers['content-encoding']
  return coding !== undefined && !/^\s*(identity)?\s*$/i.test(coding)
}
