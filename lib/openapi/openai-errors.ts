import { type ErrorExample, type ErrorKindDocument, FAULT, KEY, TOO_LARGE } from './error-causes.ts'

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
    examples: { key: openai('No valid key', { message: 'invalid api key', type: INVALID, code: 'invalid_api_key' }) },
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
          'budget exceeded: 0.009842 credits are needed, but 0.004 are left in the monthly budget of this api key until 2026-12-01T00:00:00Z; set max_tokens to at most 6648',
        type: 'insufficient_quota',
        code: 'budget_exceeded',
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
    },
  },
  413: {
    name: 'ContentTooLarge',
    description: TOO_LARGE,
    examples: {
      body: openai('Body too large', {
        message: 'request body too large',
        type: INVALID,
        code: 'request_body_too_large',
      }),
    },
  },
  429: {
    name: 'TooManyRequests',
    description:
      'The key is above its rate, or every upstream of the model limits the rate. Retry after `Retry-After`.',
    examples: {
      rate: openai('Too many requests', {
        message: 'rate limit exceeded',
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
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
    description: 'The upstreams failed. Not billed, unless `x-should-retry` is `false`.',
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
