/** An error for a client, from which every form is written. `type`, `param` and `code` are in the words of the OpenAI API. */
export type ErrorFacts = {
  readonly statusCode: number
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** How an API writes its errors. */
export type ErrorForm = {
  /** The body of a response. */
  readonly body: (error: ErrorFacts) => object
  /** The event that ends a stream, with a body of this form. */
  readonly event: (body: object) => string
  /** The header that names the request, besides `x-request-id`. */
  readonly requestIdHeader?: string
}

/** The form of the OpenAI API. */
export const OPENAI_ERRORS: ErrorForm = {
  body: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  event: (body) => `data: ${JSON.stringify(body)}\n\n`,
}

/** The form of the OpenAI API, with the error event of responses. */
export const RESPONSES_ERRORS: ErrorForm = {
  body: OPENAI_ERRORS.body,
  event: (body) => {
    const { code = null, message = '', param = null } = { ...(body as { readonly error?: Partial<ErrorFacts> }).error }
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param })}\n\n`
  },
}

/** Error types of the Anthropic API, by status. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** The code by which Anthropic's SDK goes on without a thread. */
export const THREAD_UNSUPPORTED = 'thread_unsupported_request'

/** The form of the Anthropic API. */
export const MESSAGES_ERRORS: ErrorForm = {
  body: ({ statusCode, message, param, code }) => {
    const type = MESSAGES_TYPES[statusCode] ?? (statusCode < 500 ? 'invalid_request_error' : 'api_error')
    // This form has no field for the path, which stands before the message, as in errors of the Anthropic API.
    const isNamed = param === null || message.includes(param)
    const details = code === THREAD_UNSUPPORTED ? { details: { error_code: code, unsupported: ['thread'] } } : {}
    return { type: 'error', error: { type, message: isNamed ? message : `${param}: ${message}`, ...details } }
  },
  event: (body) => `event: error\ndata: ${JSON.stringify(body)}\n\n`,
  requestIdHeader: 'request-id',
}

/** An upstream failed after its reply had begun. */
export function upstreamError(message: string): ErrorFacts {
  return { statusCode: 502, message, type: 'server_error', param: null, code: 'upstream_error' }
}
