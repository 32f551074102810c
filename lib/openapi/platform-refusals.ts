import type { ErrorExample } from './error-causes.ts'

/** What API Gateway and the web ACL refuse by themselves, always in the shape of OpenAI clients (lib/aws/gateway-error-responses.ts). */
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

/** The one list of them, by name. */
export const PLATFORM_REFUSALS: Readonly<Record<string, PlatformRefusal>> = {
  blocked: refusal([403], 'A request that the web ACL takes for an attack', [
    'request blocked',
    INVALID,
    'request_blocked',
  ]),
  size: refusal([413], "A body above the platform's own limit", [
    'request body too large',
    INVALID,
    'request_body_too_large',
  ]),
  rate: refusal([429], 'Too many requests for the service, or from one address: `Retry-After`', [
    'rate limit exceeded',
    'rate_limit_error',
    'rate_limit_exceeded',
  ]),
  fault: refusal([500, 502, 503], 'A fault of the platform', ['internal error', SERVER, null]),
  timeout: refusal([504], 'No answer within the time of the platform', ['gateway timeout', SERVER, null]),
}

/** Every status that the platform answers by itself, ascending. */
export const PLATFORM_STATUSES: readonly number[] = Object.values(PLATFORM_REFUSALS).flatMap(({ statuses }) => statuses)

/** The list as one sentence part, for people. */
export const PLATFORM_TEXT =
  'the platform in front of the gateway: 403 `request_blocked` (where the operator has a web ACL), 413, 429 with `Retry-After`, 500, 502, 503 and 504'
