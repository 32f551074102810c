/**
 * The one table of HTTP operations. Read by API Gateway (lib/aws), the local server (lib/local),
 * the fallback function and a test that every declared status is tested.
 */
export type ErrorShape = 'video' | 'openai'

/** One operation of the HTTP interface. */
export type Route = {
  /** Also the folder below `lambdas/api/` that holds the handler. */
  readonly operation: string
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** API Gateway notation: `{name}` is a path parameter. */
  readonly path: string
  readonly successStatus: number
  readonly errorStatuses: readonly number[]
  /** The answer may outlast or outgrow a buffered one: the handler also exports `streamHandler`, and the stack picks. */
  readonly streams?: true
  /** Needs no key: holds nothing of a tenant, and answers without a look at the table. Every other route authenticates. */
  readonly isPublic?: true
  /** Answers 304 to a reader who has it already. */
  readonly isRevalidated?: true
}

const JOBS = '/v1/video/generations'
const JOB = `${JOBS}/{job_id}`

/** What a request that is relayed may come to, besides an answer of its upstream. */
const RELAY_ERRORS = [400, 401, 402, 404, 413, 429, 500, 502, 503, 504] as const

/** Every operation of the HTTP interface, the one table of them. */
export const ROUTES = [
  {
    operation: 'create-video-job',
    method: 'POST',
    path: JOBS,
    successStatus: 201,
    errorStatuses: [400, 401, 402, 409, 413, 429, 500, 503],
  },
  {
    operation: 'list-video-jobs',
    method: 'GET',
    path: JOBS,
    successStatus: 200,
    errorStatuses: [400, 401, 429, 500, 503],
  },
  {
    operation: 'get-video-job',
    method: 'GET',
    path: JOB,
    successStatus: 200,
    errorStatuses: [401, 404, 429, 500, 503],
  },
  {
    operation: 'delete-video-job',
    method: 'DELETE',
    path: JOB,
    successStatus: 200,
    errorStatuses: [401, 404, 429, 500, 503],
  },
  {
    operation: 'list-models',
    method: 'GET',
    path: '/v1/models',
    successStatus: 200,
    errorStatuses: [401, 429, 500, 503],
  },
  {
    operation: 'get-model',
    method: 'GET',
    path: '/v1/models/{model}',
    successStatus: 200,
    errorStatuses: [401, 404, 429, 500, 503],
  },
  {
    operation: 'create-chat-completion',
    method: 'POST',
    path: '/v1/chat/completions',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    streams: true,
  },
  {
    operation: 'create-completion',
    method: 'POST',
    path: '/v1/completions',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    streams: true,
  },
  {
    operation: 'create-embedding',
    method: 'POST',
    path: '/v1/embeddings',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    streams: true,
  },
  {
    operation: 'create-image',
    method: 'POST',
    path: '/v1/images/generations',
    successStatus: 200,
    errorStatuses: RELAY_ERRORS,
    streams: true,
  },
  {
    operation: 'get-openapi-document',
    method: 'GET',
    path: '/openapi.json',
    successStatus: 200,
    errorStatuses: [500],
    isPublic: true,
    isRevalidated: true,
  },
  // Has nothing that could fail but its platform.
  { operation: 'get-health', method: 'GET', path: '/health', successStatus: 200, errorStatuses: [], isPublic: true },
] as const satisfies readonly Route[]

/** Name of an operation, such as `create-video-job`. */
export type Operation = (typeof ROUTES)[number]['operation']

/** The methods that a route answers. Where no key is needed monitors come, which ask by HEAD: it is GET without its body. */
export function methodsOf({ method, isPublic }: Route): readonly (Route['method'] | 'HEAD')[] {
  return isPublic ? [method, 'HEAD'] : [method]
}

/** Every status that an operation answers by itself, the success first. What API Gateway refuses before it comes on top. */
export function declaredStatuses({ successStatus, isRevalidated, errorStatuses }: Route): readonly number[] {
  return [successStatus, ...(isRevalidated ? [304] : []), ...errorStatuses]
}

/** Everything under `/v1/video/` answers `{"error": string}`, all else the OpenAI shape, unknown paths included. */
export function errorShapeOf(path: string): ErrorShape {
  return path === '/v1/video' || path.startsWith('/v1/video/') ? 'video' : 'openai'
}

/** Methods that exist for a concrete path; empty for an unknown one. */
export function allowedMethods(path: string): readonly string[] {
  return ROUTES.filter((route) => matchPath(route.path, path) !== undefined).flatMap(methodsOf)
}

/** Path parameters (percent-decoded) when the concrete path fits the template; undefined when not. */
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

/** A malformed escape is an id like any other: it will not be found. */
function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
