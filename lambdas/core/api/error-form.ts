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
}

/** The form of the OpenAI API. */
export const OPENAI_ERRORS: ErrorForm = {
  body: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  event: (body) => `data: ${JSON.stringify(body)}\n\n`,
}

/** An upstream failed after its reply had begun. */
export function upstreamError(message: string): ErrorFacts {
  return { statusCode: 502, message, type: 'server_error', param: null, code: 'upstream_error' }
}
