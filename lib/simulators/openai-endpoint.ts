import * as z from 'zod'
import type { OpenAiMagic } from './openai-magic-words.ts'
import { rawNumber } from './server.ts'

/** The context of a response. */
export type OpenAiContext = {
  readonly magic: OpenAiMagic
  /** Milliseconds since 1970. */
  readonly nowMs: number
  /** Origin of the server's files. */
  readonly origin: string
}

/**
 * A successful response: a JSON body, or one JSON value per event. Events with names have theirs in `type`, and no `[DONE]` follows them;
 * `failure` is the one that reports an error.
 */
export type OpenAiResponse =
  | { readonly body: unknown }
  | { readonly events: readonly unknown[] }
  | { readonly named: readonly NamedEvent[]; readonly failure: NamedEvent }

/** An event with its name. */
export type NamedEvent = { readonly type: string }

/** One POST route. */
export type OpenAiEndpoint<Body extends { readonly model: string }> = {
  /** @throws OpenAiProblem for a body that the upstream refuses. */
  readonly parse: (body: unknown) => Body
  /** Returns the string with the magic words. */
  readonly promptOf: (body: Body) => string
  readonly respond: (body: Body, context: OpenAiContext) => OpenAiResponse
}

type ErrorFields = { readonly message: string; readonly type: string; readonly code: string | null }

/** A refusal: its status, its headers and the value of `error`. */
export class OpenAiProblem extends Error {
  override readonly name = 'OpenAiProblem'
  readonly status: number
  readonly error: ErrorFields
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, error: ErrorFields, headers: Readonly<Record<string, string>> = {}) {
    super(error.message)
    this.status = status
    this.error = error
    this.headers = headers
  }
}

/** Error types of messages, by status. */
const MESSAGES_TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

/** A refusal as messages have it: without codes, so that an account without credit has a status of its own. */
export function messagesError({ status: ofChat, message, error }: OpenAiProblem, request_id: string) {
  const status = error.code === 'insufficient_quota' ? 402 : ofChat
  const type = MESSAGES_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  return { status, body: { type: 'error', error: { type, message }, request_id } }
}

function invalid(message: string, code: string | null = null, param: string | null = null) {
  return { message, type: 'invalid_request_error', param, code }
}
const failed = (message: string) => ({ message, type: 'server_error', param: null, code: null })

/** `param` is the path of the field at fault, as `messages[0].content`. */
export function refusal(status: number, message: string, code: string | null = null, param: string | null = null) {
  return new OpenAiProblem(status, invalid(message, code, param))
}

/** 404: unknown model. */
export function unknownModel(model: string): OpenAiProblem {
  return new OpenAiProblem(404, errorOf(404, undefined, model))
}

/** Seconds in `retry-after` of a 429 or 503. */
const RETRY_AFTER_SECONDS = '2'

/** The refusal of `[error:STATUS:KIND]` and `[error-once:STATUS:KIND]`. */
export function askedError(magic: OpenAiMagic, word: 'error' | 'error-once', model: string): OpenAiProblem | undefined {
  const [status, kind] = [magic.text(word), magic.text(word, 1)]
  if (status === undefined) {
    return undefined
  }
  const isTemporary = (status === '429' || status === '503') && kind !== 'quota'
  const retryAfter = magic.text('retry-after') ?? (isTemporary ? RETRY_AFTER_SECONDS : undefined)
  const headers = retryAfter === undefined ? undefined : { 'retry-after': retryAfter }
  return new OpenAiProblem(Number(status), errorOf(Number(status), kind, model), headers)
}

/** The error of real upstreams with this status. */
function errorOf(status: number, kind: string | undefined, model: string): ErrorFields {
  if (kind === 'context') {
    return invalid("This model's maximum context length is 128000 tokens.", 'context_length_exceeded', 'messages')
  }
  if (status === 402 || (status === 429 && kind === 'quota')) {
    const message = 'You exceeded your current quota, please check your plan and billing details.'
    return { ...invalid(message, 'insufficient_quota'), type: 'insufficient_quota' }
  }
  switch (status) {
    case 401:
      return invalid('Incorrect API key provided: TEST****KEY.', 'invalid_api_key')
    case 403:
      return {
        ...invalid('Your project is not allowed to use this model.', 'access_denied'),
        type: 'request_forbidden',
      }
    case 404:
      return invalid(`The model \`${model}\` does not exist or you do not have access to it.`, 'model_not_found')
    case 429:
      return { ...invalid(`Rate limit reached for ${model}`, 'rate_limit_exceeded'), type: 'requests' }
    case 503:
      return failed('The engine is currently overloaded, please try again later.')
    default:
      return status < 500
        ? invalid('The prompt asked for this error.')
        : failed('The server had an error while processing your request.')
  }
}

/** The last event of a stream that fails in the middle. */
export const ERROR_EVENT = { error: failed('The server had an error while processing your request') }

/** 400: a content policy refusal, in one of its two shapes. */
export function policyViolation(isNested: boolean): OpenAiProblem {
  const code = 'content_policy_violation'
  const type = 'invalid_request_error'
  const message =
    'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.'
  if (!isNested) {
    const error = { code, message, param: null, type }
    return new OpenAiProblem(400, error)
  }
  const inner_error = {
    code: 'ResponsibleAIPolicyViolation',
    content_filter_results: { jailbreak: { detected: false, filtered: false } },
  }
  const error = { code, inner_error, message, type }
  return new OpenAiProblem(400, error)
}

/** Parses a body with a schema. @throws OpenAiProblem (400) for the first invalid field. */
export function parseOpenAiBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw refusal(400, 'We could not parse the JSON body of your request.')
  }
  const parsed = schema.safeParse(body)
  if (parsed.success) {
    return parsed.data
  }
  const { path, code, message } = firstFault(parsed.error.issues)
  const param = z.core.toDotPath(path)
  if (path.reduce<unknown>((inner, name) => Object(inner)[name], body) === undefined) {
    throw refusal(400, `Missing required parameter: '${param}'.`, 'missing_required_parameter', param)
  }
  const kind = code === 'invalid_type' ? 'invalid_type' : 'invalid_value'
  throw refusal(400, `Invalid value for '${param}'. ${message}`.trim(), kind, param)
}

type Fault = { readonly path: readonly PropertyKey[]; readonly code?: string | undefined; readonly message: string }

/** The first fault; of a field with several forms, the one in the only form whose type the value has. */
function firstFault([issue]: readonly z.core.$ZodIssue[]): Fault {
  if (issue === undefined) {
    return { path: [], message: '' }
  }
  const forms = issue.code === 'invalid_union' ? issue.errors.map(firstFault) : []
  const [only, ...others] = forms.filter(({ path, code }) => path.length > 0 || code !== 'invalid_type')
  return only === undefined || others.length > 0 ? issue : { ...only, path: [...issue.path, ...only.path] }
}

/** Token ids of one text. */
export const tokenIds = z.array(z.int().min(0)).min(1)

/** `n`, or one fewer, but one at least, for `[fewer]`. */
export function countOf(n: number | null | undefined, magic: OpenAiMagic): number {
  return magic.has('fewer') ? Math.max(1, (n ?? 1) - 1) : (n ?? 1)
}

/** The value of `usage`, unless `[no-usage]` omits it. `completion` is absent if nothing is generated. */
export function usageOf(magic: OpenAiMagic, prompt: number, completion?: number): unknown {
  if (magic.has('no-usage')) {
    return undefined
  }
  const odd = magic.text('odd-usage') ?? ''
  const isOdd = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(odd)
  const tokens = (count: number) => (isOdd ? rawNumber(odd) : count)
  return {
    prompt_tokens: tokens(prompt),
    ...(completion !== undefined && { completion_tokens: tokens(completion) }),
    total_tokens: tokens(prompt + (completion ?? 0)),
    ...(magic.has('usage-details') &&
      completion !== undefined && {
        prompt_tokens_details: { cached_tokens: Math.floor(prompt / 2), audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
      }),
  }
}
