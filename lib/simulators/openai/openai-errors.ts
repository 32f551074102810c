/** The fields of an OpenAI error. */
type OpenAiErrorBody = {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** A refusal: its status, headers and the value of `error`. */
export class OpenAiProblem extends Error {
  override readonly name = 'OpenAiProblem'
  readonly status: number
  readonly error: unknown
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, error: OpenAiErrorBody | PolicyError, headers: Readonly<Record<string, string>> = {}) {
    super(error.message)
    this.status = status
    this.error = error
    this.headers = headers
  }
}

/** Content policy refusals have their own shapes. */
type PolicyError = {
  readonly message: string
  readonly type: string
  readonly code: string
  readonly param?: null
  readonly inner_error?: unknown
}

/** Seconds in `retry-after` of a 429 or 503. */
const RETRY_AFTER_SECONDS = '2'

const invalid = (message: string, param: string | null, code: string | null): OpenAiErrorBody => ({
  message,
  type: 'invalid_request_error',
  param,
  code,
})

const serverError = (message: string): OpenAiErrorBody => ({ message, type: 'server_error', param: null, code: null })

/** 400: `param` is the path of the field, as `messages[0].content`. */
export function invalidParameter(message: string, param: string, code: string | null = null): OpenAiProblem {
  return new OpenAiProblem(400, invalid(message, param, code))
}

/** 400: the body cannot be parsed. */
export function unreadableBody(): OpenAiProblem {
  return new OpenAiProblem(400, invalid('We could not parse the JSON body of your request.', null, null))
}

/** 404: unknown path. */
export function unknownPath(method: string, path: string): OpenAiProblem {
  return new OpenAiProblem(404, invalid(`Invalid URL (${method} ${path})`, null, null))
}

/** 405: wrong method. */
export function wrongMethod(method: string, path: string): OpenAiProblem {
  return new OpenAiProblem(405, invalid(`Not allowed to ${method} on ${path}.`, null, null))
}

/** 401: no bearer token, or not the expected one. */
export function unauthorized(token: string | undefined): OpenAiProblem {
  return token === undefined
    ? new OpenAiProblem(401, invalid("You didn't provide an API key.", null, null))
    : new OpenAiProblem(401, invalid(`Incorrect API key provided: ${maskKey(token)}.`, null, 'invalid_api_key'))
}

/** Real upstreams show only both ends of a key. */
function maskKey(key: string): string {
  return `${key.slice(0, 4)}****${key.slice(-3)}`
}

/** 404: unknown model. */
export function unknownModel(model: string): OpenAiProblem {
  return new OpenAiProblem(404, modelError(model))
}

/** 400: the messages exceed the context of the model. */
export function contextTooLong(tokensMax: number, tokens: number): OpenAiProblem {
  const message = `This model's maximum context length is ${tokensMax} tokens. However, your messages resulted in ${tokens} tokens.`
  return invalidParameter(message, 'messages', 'context_length_exceeded')
}

const POLICY_MESSAGE =
  'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.'

/** 400: a content policy refusal, in one of its two shapes. */
export function policyViolation(variant: 'plain' | 'nested'): OpenAiProblem {
  const code = 'content_policy_violation'
  const type = 'invalid_request_error'
  if (variant === 'plain') {
    return new OpenAiProblem(400, { code, message: POLICY_MESSAGE, param: null, type })
  }
  const innerError = {
    code: 'ResponsibleAIPolicyViolation',
    content_filter_results: { jailbreak: { detected: false, filtered: false } },
  }
  return new OpenAiProblem(400, { code, inner_error: innerError, message: POLICY_MESSAGE, type })
}

/** The arguments of `[error:STATUS:KIND]`. */
type AskedError = {
  readonly status: number
  readonly kind: string | undefined
  readonly model: string
  /** Replaces the default seconds. */
  readonly retryAfter: string | undefined
}

/** The refusal of real upstreams with this status. */
export function problemOfStatus({ status, kind, model, retryAfter }: AskedError): OpenAiProblem {
  const waits = status === 429 || status === 503 ? RETRY_AFTER_SECONDS : undefined
  const seconds = retryAfter ?? (kind === 'quota' ? undefined : waits)
  return new OpenAiProblem(
    status,
    errorOfStatus({ status, kind, model }),
    seconds === undefined ? {} : { 'retry-after': seconds },
  )
}

function errorOfStatus({ status, kind, model }: Omit<AskedError, 'retryAfter'>): OpenAiErrorBody {
  if (kind === 'context') {
    return invalid("This model's maximum context length is 128000 tokens.", 'messages', 'context_length_exceeded')
  }
  switch (status) {
    case 401:
      return invalid('Incorrect API key provided: TEST****KEY.', null, 'invalid_api_key')
    case 402:
    case 429:
      return status === 402 || kind === 'quota' ? quotaError() : rateError(model)
    case 403:
      return {
        message: 'Your project is not allowed to use this model.',
        type: 'request_forbidden',
        param: null,
        code: 'access_denied',
      }
    case 404:
      return modelError(model)
    case 503:
      return serverError('The engine is currently overloaded, please try again later.')
    default:
      return status < 500
        ? invalid('The prompt asked for this error.', null, null)
        : serverError('The server had an error while processing your request.')
  }
}

function modelError(model: string): OpenAiErrorBody {
  return invalid(`The model \`${model}\` does not exist or you do not have access to it.`, null, 'model_not_found')
}

function quotaError(): OpenAiErrorBody {
  return {
    message: 'You exceeded your current quota, please check your plan and billing details.',
    type: 'insufficient_quota',
    param: null,
    code: 'insufficient_quota',
  }
}

function rateError(model: string): OpenAiErrorBody {
  return { message: `Rate limit reached for ${model}`, type: 'requests', param: null, code: 'rate_limit_exceeded' }
}

/** The last event of a stream that fails in the middle. */
export const ERROR_EVENT = { error: serverError('The server had an error while processing your request') }
