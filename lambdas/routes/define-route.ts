import type { FunctionNeeds, TableAccess } from './needs.ts'

type Method = 'GET' | 'POST' | 'DELETE'

/** The facts of one operation of the client API; whatever follows from them is derived. */
type RouteDefinition<Operation extends string, Output extends string> = {
  /** Name in logs, usage and the OpenAPI document, such as `get-balance`. */
  readonly operation: Operation
  readonly method: Method
  /** API Gateway notation: `{name}` is a path parameter. */
  readonly path: string
  /** `none` for an operation that holds no tenant's data and does not read the table. Default: `key`. */
  readonly auth?: 'none'
  /** Names of its query parameters, which openapi.json describes; all others are ignored. */
  readonly query?: readonly string[]
  /** Name of the schema of its body, for an operation that reads one. */
  readonly input?: string
  /** A repeat with the same `Idempotency-Key` finds what the first request made; elsewhere the header is ignored. */
  readonly takesIdempotencyKey?: true
  /** Name of the schema of its response, which types what a handler of the gateway's own responses returns. */
  readonly output: Output
  /** Default: 200. */
  readonly successStatus?: number
  /** Statuses besides those that follow from the other facts: see {@link errorStatusesOf}. */
  readonly errors?: readonly number[]
  /** Relays the request to an upstream while the client waits; `free` for one that is never billed, and never fails with its upstream. */
  readonly relays?: true | 'free'
  /** Its response may exceed the time or size of a buffered one, so the handler also exports `streamHandler`. Every relayed one may. */
  readonly streams?: true
  /** Responds 304 to a client that has the current version. */
  readonly isRevalidated?: true
  /** Responds 204 to a client that has every event, which ends its reconnections (HTML standard, server-sent events). */
  readonly isResumed?: true
  /** The folder of its function below `lambdas/api/`: small reads of the same needs share one. Default: the operation. */
  readonly function?: string
  /** What it needs besides the look-up and the rate of its key. */
  readonly needs: RouteNeeds
}

/** Memory by default: most of a CPU, because the work is JSON and a few SDK calls, but a client waits. */
const MEMORY_MEGABYTES = 1024

/** The needs of an operation, with 1024 MB of memory unless it says otherwise. */
export type RouteNeeds = Omit<FunctionNeeds, 'memoryMegabytes'> & Partial<Pick<FunctionNeeds, 'memoryMegabytes'>>

/** One operation of the client API. */
export type Route<Operation extends string = string, Output extends string = string> = Omit<
  RouteDefinition<Operation, Output>,
  'auth' | 'errors' | 'needs'
> & {
  readonly auth: 'key' | 'none'
  readonly query: readonly string[]
  /** Absent without a body. */
  readonly bodyBytesMax?: number
  readonly successStatus: number
  /** Ascending. */
  readonly errorStatuses: readonly number[]
  readonly function: string
  readonly needs: FunctionNeeds
}

/** The most bytes of a body, below Lambda's 6 MB for a whole event. */
export const BODY_BYTES_MAX = 5 * 1024 * 1024

/**
 * Defines an operation: API Gateway, the local host, the fallback, roles, the OpenAPI document, sample events and the matrix of tested statuses
 * derive from it. Only data, so that the stack can read it without the code of the operation. Calls are marked as pure, so that the bundle of a
 * function holds its own routes alone.
 */
export function defineRoute<Operation extends string, Output extends string>({
  errors = [],
  ...facts
}: RouteDefinition<Operation, Output>): Route<Operation, Output> {
  const auth = facts.auth ?? 'key'
  return {
    query: [],
    successStatus: 200,
    function: facts.operation,
    ...(facts.input === undefined ? {} : { bodyBytesMax: BODY_BYTES_MAX }),
    ...(facts.relays === undefined ? {} : { streams: true as const }),
    ...facts,
    auth,
    errorStatuses: errorStatusesOf({ ...facts, auth }, errors),
    needs: {
      memoryMegabytes: MEMORY_MEGABYTES,
      ...facts.needs,
      table: auth === 'key' ? [...KEY_ACCESS, ...facts.needs.table] : facts.needs.table,
    },
  }
}

/** Looks a key up, and counts the request against its limit. */
const KEY_ACCESS: readonly TableAccess[] = [
  { actions: ['GetItem'], partitions: ['K#*'] },
  { actions: ['UpdateItem'], partitions: ['RL#*'] },
]

/** 400 for a strict request; with a key, what a key and the table may bring; what a body, a path and an upstream may. */
function errorStatusesOf(
  { auth, path, input, relays }: Pick<Route, 'auth' | 'path' | 'input' | 'relays'>,
  others: readonly number[],
): readonly number[] {
  const statuses = new Set([
    400,
    ...(auth === 'key' ? [401, 403, 429, 500, 503] : []),
    ...(path.includes('{') ? [404] : []),
    ...(input === undefined ? [] : [413]),
    ...(relays === undefined ? [] : [404]),
    ...(relays === true ? [402, 502, 504] : []),
    ...others,
  ])
  return [...statuses].sort((one, other) => one - other)
}

/** The methods of a route. Routes without a key also take HEAD, which monitors use: GET without the body. */
export function methodsOf({ method, auth }: Route): readonly (Method | 'HEAD')[] {
  return auth === 'none' ? [method, 'HEAD'] : [method]
}

/** Every status of an operation, success first, without the refusals of API Gateway. */
export function declaredStatuses({ successStatus, isRevalidated, isResumed, errorStatuses }: Route): readonly number[] {
  return [successStatus, ...(isResumed ? [204] : []), ...(isRevalidated ? [304] : []), ...errorStatuses]
}
