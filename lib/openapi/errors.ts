import { MESSAGES_ERRORS } from '#core/api/error-form.ts'
import { type ErrorShape, endpointsOfKind } from '#core/api/paths.ts'

/** One cause of an error, with the whole body that the gateway writes. */
export type ErrorExample = { readonly summary: string; readonly value: object }

/** An error status: its name in the document, its causes, and examples by name. */
export type ErrorKindDocument = {
  readonly name: string
  readonly description: string
  readonly examples: Readonly<Record<string, ErrorExample>>
}

/** Causes in both shapes. */
export const NO_RULE =
  'The token of an identity issuer is valid, but no rule allows its claims. Only where the operator has issuers.'
const KEY = 'The key is missing, wrong, expired or revoked, or its tenant is suspended.'
export const FAULT = 'A fault of the gateway.'
export const CONTENTION = 'Contention. Retry after `Retry-After`.'
export const TOO_LARGE = 'The body is larger than 5 MiB.'

type OpenaiError = {
  readonly message: string
  readonly type: string
  readonly param?: string
  readonly code: string | null
}

function openai(summary: string, { message, type, param, code }: OpenaiError): ErrorExample {
  return { summary, value: { error: { message, type, param: param ?? null, code } } }
}

const INVALID = 'invalid_request_error'
const SERVER = 'server_error'

/** Errors of every other route, by status. */
export const OPENAI_ERRORS = {
  400: {
    name: 'BadRequest',
    description:
      '`param` names the field or query parameter to correct, and nothing was sent upstream; or the upstream refused the request, with its own message.',
    examples: {
      range: openai('A value out of its range', {
        message: '`temperature` must be a number from 0 to 2',
        type: INVALID,
        param: 'temperature',
        code: null,
      }),
      strict: openai('An unknown field, with Prefer: handling=strict', {
        message: 'the field `max_tokns` would be ignored: correct its name or leave it out',
        type: INVALID,
        param: 'max_tokns',
        code: null,
      }),
      parameter: openai('A wrong query parameter', {
        message: '`to` must be a day in UTC, such as 2026-11-01',
        type: INVALID,
        param: 'to',
        code: null,
      }),
    },
  },
  401: {
    name: 'Unauthorized',
    description: KEY,
    examples: {
      key: openai('No valid key', { message: 'invalid api key', type: INVALID, code: 'invalid_api_key' }),
      none: openai('No key', {
        message: 'invalid api key: send it as `Authorization: Bearer <key>`',
        type: INVALID,
        code: 'invalid_api_key',
      }),
      token: openai('A token that is not valid', {
        message: 'invalid token: it has expired (exp)',
        type: INVALID,
        code: 'invalid_token',
      }),
    },
  },
  402: {
    name: 'PaymentRequired',
    description:
      'The bound of the price exceeds the balance, or what a budget has left. `message` says what is needed, what is there and what would fit.',
    examples: {
      quota: openai('Too little quota', {
        message:
          'insufficient quota for this request: 0.009842 credits are needed, but 0.004 are available; set max_tokens to at most 6648',
        type: 'insufficient_quota',
        code: 'insufficient_quota',
      }),
      budget: openai('Too little left of a budget', {
        message:
          'budget exceeded: 0.009842 credits are needed, but 0.004 are left in the monthly budget that this api key uses until 2026-12-01T00:00:00Z; set max_tokens to at most 6648',
        type: 'insufficient_quota',
        code: 'budget_exceeded',
      }),
    },
  },
  403: {
    name: 'Forbidden',
    description: NO_RULE,
    examples: {
      rule: openai('A token without a rule', {
        message: 'no identity rule: the token is valid, but no rule of its issuer allows its claims',
        type: INVALID,
        code: 'no_identity_rule',
      }),
    },
  },
  404: {
    name: 'NotFound',
    description: 'No such model, a model of another kind, or one that the key may not use.',
    examples: {
      model: openai('No such model', {
        message: 'the model "nothing" does not exist or this api key may not use it',
        type: INVALID,
        param: 'model',
        code: 'model_not_found',
      }),
      kind: openai('A model of another kind', {
        message: `the model text-embedding-3-small is of the kind embedding: use ${endpointsOfKind('embedding')
          .map(({ path }) => `POST ${path}`)
          .join(', ')}`,
        type: INVALID,
        param: 'model',
        code: 'model_not_found',
      }),
    },
  },
  413: {
    name: 'ContentTooLarge',
    description: TOO_LARGE,
    examples: {
      body: openai('Body too large', {
        message: 'request body too large: it may have at most 5 MiB',
        type: INVALID,
        code: 'request_body_too_large',
      }),
    },
  },
  429: {
    name: 'TooManyRequests',
    description:
      'The key is above its rate (`rate_limit_exceeded`), or every upstream of the model limits the rate of the gateway (`upstream_rate_limited`). Retry after `Retry-After`.',
    examples: {
      key: openai('A key above its rate', {
        message: 'rate limit exceeded: this key may send 300 a minute, and 60 at once after a rest: wait 3 s',
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
      }),
      rate: openai('Upstreams above their rate', {
        message: 'every upstream of this model limits the rate of the gateway, not of this key: wait 1 s',
        type: 'rate_limit_error',
        code: 'upstream_rate_limited',
      }),
    },
  },
  500: {
    name: 'InternalError',
    description: FAULT,
    examples: { fault: openai('Our fault', { message: 'internal error', type: SERVER, code: null }) },
  },
  502: {
    name: 'BadGateway',
    description:
      'The upstreams failed: `code` is `upstream_auth`, `upstream_quota`, `upstream_unavailable` or `upstream_error`. Not billed, unless `x-should-retry` is `false`.',
    examples: {
      upstream: openai('Failed upstream', {
        message: 'the upstream failed to answer this request',
        type: SERVER,
        code: 'upstream_error',
      }),
    },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'No upstream of the model is available, or contention. Retry after `Retry-After`.',
    examples: {
      channel: openai('No upstream', {
        message: 'no channel is available for this model',
        type: SERVER,
        code: 'no_channel_available',
      }),
      contention: openai('Contention', { message: 'service unavailable', type: SERVER, code: null }),
    },
  },
  504: {
    name: 'GatewayTimeout',
    description:
      'The upstream did not reply in time and may still be working: it could charge for a retry. Not billed here.',
    examples: {
      timeout: openai('Silent upstream', {
        message: 'the upstream did not answer in time',
        type: SERVER,
        code: 'upstream_timeout',
      }),
    },
  },
} as const satisfies Readonly<Record<number, ErrorKindDocument>>

function video(summary: string, error: string, details?: readonly object[]): ErrorExample {
  return { summary, value: details === undefined ? { error } : { error, details } }
}

/** Errors below `/v1/video/`, by status. */
export const VIDEO_ERRORS = {
  400: {
    name: 'VideoBadRequest',
    description: 'Invalid body, query, or `Idempotency-Key`. `details` says what to correct.',
    examples: {
      duration: video('An unsupported duration', 'invalid request body', [
        { path: 'duration', message: '`duration` must be from 3 to 10 seconds for famA-1-pro' },
      ]),
      strict: video('An unknown field, with Prefer: handling=strict', 'invalid request body', [
        { path: 'durration', message: 'the field `durration` would be ignored: correct its name or leave it out' },
      ]),
    },
  },
  401: {
    name: 'VideoUnauthorized',
    description: KEY,
    examples: {
      key: video('No valid key', 'invalid api key'),
      none: video('No key', 'invalid api key', [{ path: '', message: 'send it as `Authorization: Bearer <key>`' }]),
      token: video('A token that is not valid', 'invalid token', [{ path: '', message: 'it has expired (exp)' }]),
    },
  },
  402: {
    name: 'VideoPaymentRequired',
    description:
      'The estimate exceeds the balance, or what a budget has left; nothing was created. `details` says what is needed and what is there.',
    examples: {
      quota: video('Too little quota', 'insufficient quota for this video generation', [
        { path: '', message: '0.7 credits are needed, but 0.69 are available' },
      ]),
      budget: video('Too little left of a budget', 'budget exceeded', [
        {
          path: '',
          message:
            '0.7 credits are needed, but 0.2 are left in the daily budget that this api key uses until 2026-11-23T00:00:00Z',
        },
      ]),
    },
  },
  403: {
    name: 'VideoForbidden',
    description: NO_RULE,
    examples: {
      rule: video('A token without a rule', 'no identity rule', [
        { path: '', message: 'the token is valid, but no rule of its issuer allows its claims' },
      ]),
    },
  },
  404: {
    name: 'VideoNotFound',
    description: 'No such job of the tenant.',
    examples: { job: video('No such job', 'video job not found') },
  },
  409: {
    name: 'VideoConflict',
    description:
      'Create: the `Idempotency-Key` was used with another body, or its job was deleted. Other routes: the state of the job does not allow it.',
    examples: {
      reused: video('Key used before', 'idempotency key reused with a different body'),
      ended: video('A cancel of an ended job', 'the job has ended: there is nothing to cancel'),
      open: video('A callback of an open job', 'the job has not ended: its callback is sent when it ends'),
    },
  },
  413: {
    name: 'VideoContentTooLarge',
    description: TOO_LARGE,
    examples: { body: video('Body too large', 'request body too large') },
  },
  429: {
    name: 'VideoTooManyRequests',
    description:
      'The key is above its rate or has too many open streams of events, or the tenant has too many open jobs. Retry after `Retry-After`.',
    examples: {
      rate: video('Too many requests', 'rate limit exceeded', [
        { path: '', message: 'this key may send 300 a minute, and 60 at once after a rest: wait 3 s' },
      ]),
      jobs: video('Too many open jobs', 'too many open video jobs'),
      streams: video('Too many open streams of events', 'too many event streams'),
    },
  },
  500: {
    name: 'VideoInternalError',
    description: FAULT,
    examples: { fault: video('Our fault', 'internal error') },
  },
  503: {
    name: 'VideoServiceUnavailable',
    description: CONTENTION,
    examples: { contention: video('Contention', 'service unavailable') },
  },
} as const satisfies Readonly<Record<number, ErrorKindDocument>>

const MESSAGES_STATUSES = [400, 401, 402, 403, 404, 413, 429, 500, 502, 503, 504] as const

/** Errors below `/v1/messages`, by status: the causes of the other routes in another shape. */
const MESSAGES = Object.fromEntries(
  MESSAGES_STATUSES.map((statusCode) => {
    const { name, description, examples } = OPENAI_ERRORS[statusCode]
    const shown = Object.entries<ErrorExample>(examples).map(([cause, { summary, value }]) => {
      const { message } = (value as { readonly error: { readonly message: string } }).error
      const body = MESSAGES_ERRORS.body({ statusCode, message, type: '', param: null, code: null })
      return [cause, { summary, value: body }] as const
    })
    return [statusCode, { name: `Messages${name}`, description, examples: Object.fromEntries(shown) }] as const
  }),
)

/** Every error status of each shape. `responsesOf` throws for a declared status that is missing here. */
export const ERRORS: Readonly<Record<ErrorShape, Readonly<Record<number, ErrorKindDocument>>>> = {
  video: VIDEO_ERRORS,
  messages: MESSAGES,
  openai: OPENAI_ERRORS,
}

/** A refusal by API Gateway or the web ACL, always in OpenAI's shape (lib/stack/gateway-error-responses.ts). */
type PlatformRefusal = ErrorExample & { readonly statuses: readonly number[] }

function refusal(
  statuses: readonly number[],
  summary: string,
  [message, type, code]: readonly [string, string, string | null],
): PlatformRefusal {
  return { statuses, summary, value: { error: { message, type, param: null, code } } }
}

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
