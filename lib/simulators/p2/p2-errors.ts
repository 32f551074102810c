import { randomUUID } from 'node:crypto'
import type { SubmitRefusal } from '../shared/magic-prompt.ts'
import type { JsonResponse } from '../shared/simulator-server.ts'

/** An error of P2. `param` is empty if no parameter is at fault. */
type P2Problem = {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly param?: string
}

const TYPES: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  429: 'TooManyRequests',
  503: 'ServiceUnavailable',
}

/** P2's refusals that prompts do not request, in the wording of P2. */
export const P2_PROBLEMS = {
  key: { status: 401, code: 'AuthenticationError', message: 'The API key in the request is missing or invalid.' },
  rate: {
    status: 429,
    code: 'ModelAccountRpmRateLimitExceeded',
    message: 'RPM limit of the model is exceeded.',
  },
  notFound: { status: 404, code: 'ResourceNotFound', message: 'The specified resource is not found.' },
  internal: {
    status: 500,
    code: 'InternalServiceError',
    message: 'The service encountered an unexpected internal error.',
  },
  unavailable: { status: 503, code: 'ServiceUnavailable', message: 'The service is currently unavailable.' },
  model: (model: string) => ({
    status: 404,
    code: 'InvalidEndpointOrModel.NotFound',
    message: `The model or endpoint ${model} does not exist or you do not have access to it.`,
  }),
} as const satisfies Readonly<Record<string, P2Problem | ((model: string) => P2Problem)>>

const REFUSALS: Readonly<Record<SubmitRefusal, P2Problem>> = {
  refuse: {
    status: 400,
    code: 'InvalidParameter',
    message: 'The parameter `content` specified in the request is not valid.',
    param: 'content',
  },
  'refuse:moderated': {
    status: 400,
    code: 'InputTextSensitiveContentDetected',
    message: 'The request failed because the input text may contain sensitive information.',
  },
  'refuse:download': {
    status: 400,
    code: 'InvalidParameter',
    message: 'The parameter `content[1].image_url` specified in the request is not valid: resource download failed.',
    param: 'content[1].image_url',
  },
  'refuse:person': {
    status: 400,
    code: 'InputImageSensitiveContentDetected.PrivacyInformation',
    message: 'The request failed because the input image may contain real person.',
  },
  unauthorized: P2_PROBLEMS.key,
  arrears: {
    status: 403,
    code: 'AccountOverdueError',
    message: 'The request failed because your account has an overdue balance.',
  },
  'not-open': {
    status: 404,
    code: 'ModelNotOpen',
    message: 'Your account has not activated the model. Please activate the model service in the console.',
  },
  'no-model': P2_PROBLEMS.model('of this prompt'),
  busy: P2_PROBLEMS.rate,
  'busy:always': P2_PROBLEMS.rate,
  'busy:quota': {
    status: 429,
    code: 'SetLimitExceeded',
    message: 'Your account has reached the set inference limit for the model, and the model service has been paused.',
  },
  'busy:overloaded': {
    status: 429,
    code: 'ServerOverloaded',
    message: 'The service is currently unable to handle additional requests due to server overload.',
  },
}

/** The tail of every error message of P2. */
export function withRequestId(message: string): string {
  return `${message} Request id: ${p2RequestId()}`
}

/** 021, thirteen digits of time, then hexadecimal digits. */
function p2RequestId(): string {
  return `021${Date.now()}${randomUUID().replaceAll('-', '').slice(0, 16)}`
}

/** A response of P2, with its headers. */
export function p2Answer(status: number, body: unknown): JsonResponse {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'x-request-id': p2RequestId() }
  return { kind: 'json', status, body, headers }
}

/** The nested error body, with P2's type for the status. */
export function p2Problem(problem: P2Problem): JsonResponse {
  const { status, code, message, param = '' } = problem
  const type = TYPES[status] ?? (status < 500 ? 'BadRequest' : 'InternalServerError')
  return p2Answer(status, { error: { code, message: withRequestId(message), param, type } })
}

/** The response to a submit whose prompt requests a refusal. */
export function p2Refusal(refusal: SubmitRefusal): JsonResponse {
  return p2Problem(REFUSALS[refusal])
}

/** Any status from 400 to 599. */
export function p2Failure(status: number): JsonResponse {
  if (status < 500) {
    return p2Problem({ ...REFUSALS.refuse, status })
  }
  return p2Problem({ ...(status === 503 ? P2_PROBLEMS.unavailable : P2_PROBLEMS.internal), status })
}
