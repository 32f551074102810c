import type { SubmitRefusal } from '../shared/magic-prompt.ts'
import type { JsonResponse } from '../shared/simulator-server.ts'

type Problem = {
  readonly status: number
  readonly message: string
  readonly type: string
  readonly param?: string | null
  readonly code: string
}

const INVALID: Problem = {
  status: 400,
  message: 'Invalid request',
  type: 'invalid_request_error',
  code: 'invalid_request_error',
}
const MODERATED: Problem = {
  status: 400,
  message: 'The request failed because the input text may contain sensitive information.',
  type: 'invalid_request_error',
  code: 'content_policy_violation',
}
const RATE: Problem = {
  status: 429,
  message: 'Rate limit exceeded',
  type: 'rate_limit_error',
  code: 'rate_limit_exceeded',
}

/** Refusals that prompts do not request. */
export const PROXY_PROBLEMS = {
  key: { status: 401, message: 'Invalid token', type: 'invalid_request_error', code: 'invalid_api_key' },
  rate: RATE,
  notFound: { status: 404, message: 'Task not found', type: 'invalid_request_error', code: 'task_not_found' },
  internal: { status: 500, message: 'Internal error', type: 'server_error', code: 'server_error' },
  arrears: { status: 402, message: 'Insufficient balance', type: 'insufficient_quota', code: 'insufficient_quota' },
} as const satisfies Readonly<Record<string, Problem>>

/** A proxy reports an unknown model as missing capacity, because its models come from channels. */
export function noChannel(model: string): Problem {
  return {
    status: 503,
    message: `No available channel for model ${model}`,
    type: 'proxy_error',
    param: '',
    code: 'model_not_found',
  }
}

const REFUSALS: Readonly<Record<SubmitRefusal, Problem>> = {
  refuse: INVALID,
  'refuse:moderated': MODERATED,
  'refuse:download': { ...INVALID, message: 'The image could not be downloaded', code: 'invalid_image_url' },
  'refuse:person': { ...MODERATED, message: 'The input image may contain real person.' },
  unauthorized: PROXY_PROBLEMS.key,
  arrears: PROXY_PROBLEMS.arrears,
  'not-open': noChannel('of this prompt'),
  'no-model': noChannel('of this prompt'),
  busy: RATE,
  'busy:always': RATE,
  'busy:quota': { ...PROXY_PROBLEMS.arrears, status: 429 },
  'busy:overloaded': { ...RATE, status: 503, message: 'The service is overloaded', code: 'overloaded' },
}

/** A response of the proxy. */
export function proxyResponse(status: number, body: unknown): JsonResponse {
  return { kind: 'json', status, body }
}

/** The error body in the OpenAI form. */
export function proxyProblem({ status, message, type, param = null, code }: Problem): JsonResponse {
  return proxyResponse(status, { error: { message, type, param, code } })
}

/** A 400 that names the parameter. */
export function proxyInvalid(param: string, message: string): JsonResponse {
  return proxyProblem({ ...INVALID, message, param })
}

/** The response to a submit whose prompt requests a refusal. */
export function proxyRefusal(refusal: SubmitRefusal): JsonResponse {
  return proxyProblem(REFUSALS[refusal])
}

/** Any status from 400 to 599. */
export function proxyFailure(status: number): JsonResponse {
  if (status === 503) {
    return proxyProblem(noChannel('of this prompt'))
  }
  return proxyProblem({ ...(status < 500 ? INVALID : PROXY_PROBLEMS.internal), status })
}
