/** A request that failed: refused by the API, or not answered at all (`status` 0). */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string | null
  /** For support: the id under which the gateway has logged the request. */
  readonly requestId: string | null
  /** How long to wait before another try, if the gateway says so. */
  readonly retryAfterSeconds: number | null

  constructor(
    message: string,
    facts: Partial<Pick<ApiError, 'status' | 'code' | 'requestId' | 'retryAfterSeconds' | 'cause'>>,
  ) {
    super(message, { cause: facts.cause })
    this.status = facts.status ?? 0
    this.code = facts.code ?? null
    this.requestId = facts.requestId ?? null
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null
  }
}

/** The error of a response, in the OpenAI shape or that of video jobs; another body gives a sentence with its status. */
export function apiErrorOf(response: Pick<Response, 'status' | 'headers'>, body: unknown): ApiError {
  const error = field(body, 'error')
  const message = field(error, 'message')
  const code = field(error, 'code')
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new ApiError(
    typeof message === 'string'
      ? message
      : (videoMessage(body) ?? `the gateway responded with status ${response.status}`),
    {
      status: response.status,
      code: typeof code === 'string' ? code : null,
      requestId: response.headers.get('x-request-id'),
      retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    },
  )
}

/** `{"error": "...", "details": [{"message": "..."}, ...]}` as one sentence. */
function videoMessage(body: unknown): string | undefined {
  const error = field(body, 'error')
  const details = field(body, 'details')
  if (typeof error !== 'string') {
    return undefined
  }
  const reasons = Array.isArray(details) ? details.map((detail) => field(detail, 'message')).filter(isString) : []
  return reasons.length === 0 ? error : `${error}: ${reasons.join('; ')}`
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined
}

function isString(value: unknown): value is string {
  return typeof value === 'string'
}
