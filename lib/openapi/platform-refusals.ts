import type { ErrorExample } from './error-causes.ts'

/** A refusal by API Gateway or the web ACL, always in OpenAI's shape (lib/aws/gateway-error-responses.ts). */
type PlatformRefusal = ErrorExample & { readonly statuses: readonly number[] }

function refusal(
  statuses: readonly number[],
  summary: string,
  [message, type, code]: readonly [string, string, string | null],
): PlatformRefusal {
  return { statuses, summary, value: { error: { message, type, param: null, code } } }
}

const INVALID = 'invalid_request_error'
const SERVER = 'server_error'

/** Every such refusal, by name. */
export const PLATFORM_REFUSALS: Readonly<Record<string, PlatformRefusal>> = {
  blocked: refusal([403], 'A request that the web ACL considers an attack', [
    'request blocked',
    INVALID,
    'request_blocked',
  ]),
  size: refusal([413], 'A body above the limit of the platform', [
    'request body too large',
    INVALID,
    'request_body_too_large',
  ]),
  rate: refusal([429], 'Too many requests, in all or from one address. Retry after `Retry-After`.', [
    'rate limit exceeded',
    'rate_limit_error',
    'rate_limit_exceeded',
  ]),
  fault: refusal([500, 502, 503], 'A fault of the platform', ['internal error', SERVER, null]),
  timeout: refusal([504], 'No response within the time limit of the platform', ['gateway timeout', SERVER, null]),
}

/** Every status that the platform returns on its own, ascending. */
export const PLATFORM_STATUSES: readonly number[] = Object.values(PLATFORM_REFUSALS).flatMap(({ statuses }) => statuses)

/** The list for people, as a part of a sentence. */
export const PLATFORM_TEXT =
  'the platform in front of the gateway: 403 `request_blocked` (with a web ACL), 413, 429 with `Retry-After`, 500, 502, 503 and 504'
