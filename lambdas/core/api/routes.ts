import type { Model } from '../catalogue/model.ts'

/** The two shapes of an error body. */
export type ErrorShape = 'video' | 'openai'

/** One operation of the HTTP interface. */
export type Route = {
  /** Also the folder of the handler in `lambdas/api/`. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** API Gateway notation: `{name}` is a path parameter. */
  readonly path: string
  readonly successStatus: number
  readonly errorStatuses: readonly number[]
  /** Names of its query parameters, which openapi.json describes; all others are ignored. */
  readonly query?: readonly string[]
  /** The kind of models that it takes; for one that makes something. */
  readonly takes?: Model['kind']
  /** Its response may exceed the time or size of a buffered one, so the handler also exports `streamHandler`. */
  readonly streams?: true
  /** Needs no key: it holds no tenant's data and does not read the table. */
  readonly isPublic?: true
  /** Responds 304 to a client that has the current version. */
  readonly isRevalidated?: true
  /** Responds 204 to a client that has every event, which ends its reconnections (HTML standard, server-sent events). */
  readonly isResumed?: true
}

const JOBS = '/v1/video/generations'
const JOB = `${JOBS}/{job_id}`

/** Error statuses of the gateway itself for a relayed request. */
const RELAY_ERRORS = [400, 401, 402, 404, 413, 429, 500, 502, 503, 504] as const

/**
 * Every operation of the HTTP interface. API Gateway, the local host, the fallback and the test of declared statuses read this table.
 */
export const ROUTES = [
  {
    operation: 'create-video-job',
    method: 'POST',
    path: JOBS,
    successStatus: 201,
    errorStatuses: [400, 401, 402, 409, 413, 429, 500, 503],
    takes: 'video',
  },
  {
    operation: 'list-video-jobs',
    method: 'GET',
    path: JOBS,
    successStatus: 200,
    errorStatuses: [400, 401, 429, 500, 503],
    query: ['limit', 'offset', 'after', 'status', 'model', 'created_after', 'created_before'],
  },
  {
    operation: 'get-video-job',
    method: 'GET',
    path: JOB,
    successStatus: 200,
    errorStatuses: [400, 401, 404, 429, 500, 503],
  },
  {
    operation: 'delete-video-job',
    method: 'DELETE',
    path: JOB,
    successStatus: 200,
    errorStatuses: [400, 401, 404, 429, 500, 503],
  },
  {
    operation: 'get-video-receipt',
    method: 'GET',
    path: `${JOB}/receipt`,
    successStatus: 200,
    errorStatuses: [400, 401, 404, 429, 500, 503],
  },
  {
    operation: 'cancel-video-job',
    method: 'POST',
    path: `${JOB}/cancel`,
    successStatus: 200,
    errorStatuses: [400, 401, 404, 409, 429, 500, 503],
  },
  {
    operation: 'resend-video-callback',
    method: 'POST',
    path: `${JOB}/callback`,
    successStatus: 200,
    errorStatuses: [400, 401, 404, 409, 429, 500, 503],
  },
  {
    operation: 'get-video-events',
    method: 'GET',
    path: `${JOB}/events`,
    successStatus: 200,
    errorStatuses: [400, 401, 404, 429, 500, 503],
    streams: true,
    isResumed: true,
  },
  {
    operation: 'create-video-quote',
    method: 'POST',
    path: '/v1/video/quotes',
    successStatus: 200,
    errorStatuses: [400, 401, 413, 429, 500, 503],
  },
  {
    operation: 'list-models',
    method: 'GET',
    path: '/v1/models',
    successStatus: 200,
    errorStatuses: [400, 401, 429, 500, 503],
  },
  {
    operation: 'get-model',
    method: 'GET',
    path: '/v1/models/{model}',
    successStatus: 200,
    errorStatuses: [400, 401, 404, 429, 500, 503],
  },
  {
    operation: 'create-chat-completion',
    method: 'POST',
    path: '/v1/chat/completions',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    takes: 'chat',
    streams: true,
  },
  {
    operation: 'create-completion',
    method: 'POST',
    path: '/v1/completions',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    takes: 'chat',
    streams: true,
  },
  {
    operation: 'create-embedding',
    method: 'POST',
    path: '/v1/embeddings',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    takes: 'embedding',
    streams: true,
  },
  {
    operation: 'create-image',
    method: 'POST',
    path: '/v1/images/generations',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    takes: 'image',
    streams: true,
  },
  {
    operation: 'get-usage',
    method: 'GET',
    path: '/v1/usage',
    query: ['from', 'to', 'group_by', 'limit', 'after'],
    successStatus: 200,
    errorStatuses: [400, 401, 429, 500, 503],
  },
  {
    operation: 'get-balance',
    method: 'GET',
    path: '/v1/balance',
    successStatus: 200,
    errorStatuses: [400, 401, 429, 500, 503],
  },
  {
    operation: 'get-openapi-document',
    method: 'GET',
    path: '/openapi.json',
    successStatus: 200,
    errorStatuses: [400, 500],
    isPublic: true,
    isRevalidated: true,
  },
  { operation: 'get-health', method: 'GET', path: '/health', successStatus: 200, errorStatuses: [400], isPublic: true },
] as const satisfies readonly Route[]

/** The query parameters of an operation; undefined for a name that is no operation. */
export function queryOf(operation: string): readonly string[] | undefined {
  const route: Route | undefined = ROUTES.find((each) => each.operation === operation)
  return route === undefined ? undefined : (route.query ?? [])
}

/** Name of an operation, such as `create-video-job`. */
export type Operation = (typeof ROUTES)[number]['operation']

/** Small reads of the same needs share a function on AWS. Every other operation has its own. */
const SHARED_FUNCTIONS = {
  'get-balance': 'account',
  'get-usage': 'account',
  'get-video-receipt': 'account',
  'list-models': 'catalogue',
  'get-model': 'catalogue',
  'get-health': 'public',
  'get-openapi-document': 'public',
} as const satisfies Partial<Readonly<Record<Operation, string>>>

type SharedOperation = keyof typeof SHARED_FUNCTIONS

/** A function of the API on AWS. */
export type ApiFunction = Exclude<Operation, SharedOperation> | (typeof SHARED_FUNCTIONS)[SharedOperation]

/** The function that has an operation on AWS. */
export function functionOf(operation: Operation): ApiFunction {
  return isShared(operation) ? SHARED_FUNCTIONS[operation] : operation
}

/** The folder of that function below `lambdas/`. */
export function functionFolderOf({ operation }: Pick<Route, 'operation'>): string {
  return isShared(operation) ? `api-shared/${SHARED_FUNCTIONS[operation]}` : `api/${operation}`
}

function isShared(operation: string): operation is SharedOperation {
  return operation in SHARED_FUNCTIONS
}

/** The methods of a route. Public routes also take HEAD, which monitors use: GET without the body. */
export function methodsOf({ method, isPublic }: Route): readonly (Route['method'] | 'HEAD')[] {
  return isPublic ? [method, 'HEAD'] : [method]
}

/** Whether the requests of an operation are relayed to an upstream while their client waits. */
export function isRelayed({ streams, takes }: Route): boolean {
  return streams === true && takes !== undefined
}

/** Every status of an operation, success first, without the refusals of API Gateway. */
export function declaredStatuses(route: Route): readonly number[] {
  const { successStatus, isRevalidated, isResumed, errorStatuses } = route
  return [successStatus, ...(isResumed ? [204] : []), ...(isRevalidated ? [304] : []), ...errorStatuses]
}

/** Paths under `/v1/video/` have the shape `{"error": string}`; all others, unknown ones included, have the OpenAI shape. */
export function errorShapeOf(path: string): ErrorShape {
  return path === '/v1/video' || path.startsWith('/v1/video/') ? 'video' : 'openai'
}

/** The methods of a concrete path; empty for an unknown one. */
export function allowedMethods(path: string): readonly string[] {
  return ROUTES.filter((route) => matchPath(route.path, path) !== undefined).flatMap(methodsOf)
}

/** The percent-decoded path parameters; undefined if the concrete path does not match the template. */
export function matchPath(template: string, path: string): Record<string, string> | undefined {
  const expected = template.split('/')
  const actual = path.split('/')
  if (expected.length !== actual.length) {
    return undefined
  }
  const parameters: Record<string, string> = {}
  for (const [index, segment] of expected.entries()) {
    const value = actual[index] ?? ''
    const name = /^\{(.+)\}$/.exec(segment)?.[1]
    if (name === undefined ? segment !== value : value === '') {
      return undefined
    }
    if (name !== undefined) {
      parameters[name] = decodeSegment(value)
    }
  }
  return parameters
}

/** A malformed escape stays as it is: an id that does not exist. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/**
 * The server in the committed OpenAPI document: the address of `npm start`. A deployment serves the document with its own
 * address, without a trailing slash, because clients append paths to it (OpenAPI 3.1, "Paths Object").
 */
export const DOCUMENT_SERVER = 'http://127.0.0.1:8787'
