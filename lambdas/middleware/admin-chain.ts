import type { MiddlewareObj } from '@middy/core'
import middy from '@middy/core'
import type { Context } from 'aws-lambda'
import {
  type ConsoleSite,
  consoleSite,
  cookieValues,
  crossSiteProblem,
  isLoopbackHost,
  sessionCookieName,
} from '#core/admin/console-site.ts'
import { CrossSiteError, ForbiddenError, NotSignedInError } from '#core/admin/errors.ts'
import type { AdminFunction, AdminRoute } from '#core/admin/routes.ts'
import type { Session } from '#core/admin/session.ts'
import { matchPath } from '#core/api/paths.ts'
import { InvalidRequestError, MethodNotAllowedError, RouteNotFoundError } from '#core/errors.ts'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import type { CountedFact } from '#core/measures.ts'
import { mayAccess, servedRoles } from '#core/roles.ts'
import { once } from '#platform/cache.ts'
import { isFrontDoor } from '#platform/secrets.ts'
import { count } from '#platform/telemetry/measures.ts'
import type { Actor } from '#store/audit/audit-entry.ts'
import { type FoundSession, findSession } from '#store/sessions/find-session.ts'
import { openTable } from '#store/table/sdk-table.ts'
import type { Table } from '#store/table/table.ts'
import { hasBearer, requireAdminKey } from './admin-key.ts'
import {
  type ApiEvent,
  type ApiResult,
  headerLinesOf,
  headerOf,
  MiddlewareOrderError,
  receivedRequest,
  requestIdOf,
} from './api-event.ts'
import { readJsonBody } from './request-input.ts'
import { requestLog } from './request-log.ts'
import { errorResponse, neverStored } from './responses.ts'

/** Where the console of this deployment is served, from `CONSOLE_ORIGIN`. */
export function currentSite(environment: Readonly<Record<string, string | undefined>> = process.env): ConsoleSite {
  return consoleSite(environment.CONSOLE_ORIGIN)
}

/**
 * Lets requests through that came by the front door, where the environment names its secret (`FRONT_DOOR_SECRET_ARN`): to all
 * others the admin API does not exist.
 * @throws RouteNotFoundError, and the errors of a secret that cannot be read.
 */
export async function requireFrontDoor(event: ApiEvent): Promise<void> {
  const secretArn = process.env.FRONT_DOOR_SECRET_ARN
  if (secretArn && !(await isFrontDoor(secretArn, headerOf(event, FRONT_DOOR_HEADER)))) {
    throw new RouteNotFoundError()
  }
}

/**
 * Refuses requests that a page of another site may have sent, and on loopback requests to a name that is not this machine's.
 * @throws CrossSiteError
 */
export function requireSameSite(event: ApiEvent, site: ConsoleSite): void {
  const host = headerOf(event, 'host')
  if (site.isLoopback && !isLoopbackHost(host)) {
    throw new CrossSiteError('use the address that `npm start` prints, or localhost')
  }
  const problem = crossSiteProblem(
    {
      method: event.httpMethod,
      origin: headerOf(event, 'origin'),
      fetchSite: headerOf(event, 'sec-fetch-site'),
      consoleHeader: headerOf(event, 'x-reelgate-console'),
      contentType: event.body ? (headerOf(event, 'content-type') ?? '') : undefined,
      host,
    },
    site,
  )
  if (problem !== undefined) {
    throw new CrossSiteError(problem)
  }
}

/** The largest request names some hundred models. */
const BODY_BYTES_MAX = 64 * 1024

/** No request of the admin API nests deeper than a list in an object. */
const BODY_DEPTH_MAX = 8

/**
 * Refuses query parameters that the operation does not know, and parameters that are given twice: proxies disagree on which of
 * them counts.
 * @throws InvalidRequestError naming the parameter.
 */
export function checkQuery(
  event: ApiEvent,
  { query = [], isQueryOpen }: Pick<AdminRoute, 'query' | 'isQueryOpen'>,
): void {
  for (const [name, values] of Object.entries(event.multiValueQueryStringParameters ?? {})) {
    const path = name.slice(0, NAME_CHARACTERS_MAX)
    if (!query.includes(name) && !isQueryOpen) {
      const known = query.length === 0 ? 'this operation has none' : `use ${query.join(', ')}`
      throw new InvalidRequestError([{ path, message: `the query parameter \`${path}\` is unknown: ${known}` }])
    }
    if ((values?.length ?? 0) > 1) {
      throw new InvalidRequestError([{ path, message: `the query parameter \`${path}\` is given twice: send it once` }])
    }
  }
}

/** Longer names are cut in an error. */
const NAME_CHARACTERS_MAX = 64

/**
 * The parsed body; an empty object for a request without one, so that an operation names the fields that it misses.
 * @throws RequestBodyTooLargeError, InvalidRequestError for a body that is not JSON.
 */
export async function readAdminBody(event: ApiEvent): Promise<unknown> {
  return event.body
    ? (await readJsonBody(receivedRequest(event), { bytesMax: BODY_BYTES_MAX, depthMax: BODY_DEPTH_MAX })).json
    : {}
}

/** The header with the secret that the page holds on loopback. */
const PAGE_HEADER = 'x-reelgate-page'

type AskedRoute = Pick<AdminRoute, 'access' | 'readsTenant' | 'needsSession'>

const OF_SESSIONS = 'this belongs to a session of the console: an admin key cannot call it'

type ReadableTable = Pick<Table, 'readItems' | 'updateItem'>

type SessionContext = {
  readonly site: ConsoleSite
  readonly table: () => ReadableTable
  /** Whether the request comes with an admin key in place of a session. */
  readonly isByKey: boolean
}

/**
 * Finds the session or the admin key of a request, with the tenant that the page is about, and checks that its role may call the operation.
 * @throws NotSignedInError without a valid session; ForbiddenError for a role that may not call it; and as {@link requireAdminKey}.
 */
export async function requireSession(
  event: ApiEvent,
  { access, readsTenant, needsSession }: AskedRoute,
  context: SessionContext,
): Promise<FoundSession> {
  const tenantId = readsTenant ? event.queryStringParameters?.tenant : undefined
  const found = context.isByKey
    ? await requireAdminKey(event, tenantId, context.table())
    : await readSession(event, tenantId, context)
  if (found === undefined) {
    throw new NotSignedInError()
  }
  const { session } = found
  if (!mayAccess(session.role, access)) {
    const needed = servedRoles(access)?.join(' or ')
    throw new ForbiddenError(
      `this needs the role ${needed}, and this ${context.isByKey ? 'key' : 'session'} has the role ${session.role}`,
    )
  }
  if (needsSession && context.isByKey) {
    throw new ForbiddenError(OF_SESSIONS)
  }
  return found
}

/** Two cookies of one name are none: another site of the same domain may have set one of them. */
async function readSession(
  event: ApiEvent,
  tenantId: string | undefined,
  { site, table }: SessionContext,
): Promise<FoundSession | undefined> {
  const name = sessionCookieName(site, headerOf(event, 'host'))
  const [token, ...others] = cookieValues(headerLinesOf(event, 'cookie'), name)
  if (token === undefined || others.length > 0) {
    return undefined
  }
  const pageSecret = headerOf(event, PAGE_HEADER)
  return await findSession(table(), { token, pageSecret, nowMilliseconds: Date.now(), tenantId })
}

/** Counts responses with the status 500. Stands outside of `errorResponse`, which gives failures their status. */
export function countedFailures(fact: CountedFact): MiddlewareObj<ApiEvent, ApiResult> {
  const finish = (request: { response?: ApiResult | null | undefined }) => {
    if (request.response?.statusCode === 500) {
      count(fact)
    }
  }
  return { after: finish, onError: finish }
}

/** Serves one operation of the admin API. */
export type AdminOperation = (event: ApiEvent, context: Context) => Promise<AdminResponse>

/** One operation of a function, with its row. */
export type ServedOperation = AdminRoute & { readonly serve: AdminOperation }

/** What a function takes from outside. */
type AdminContext = { readonly openTable?: () => ReadableTable }

type Handler = (event: ApiEvent, context: Context) => Promise<ApiResult>

/**
 * The handler of one function of the admin API, which finds the operation of each request by method and path. What wraps every
 * operation, from the outside in:
 *
 * 1. `countedFailures` counts internal errors, for the alarm of the console;
 * 2. `neverStored` keeps the response out of every cache;
 * 3. `requestLog` writes the one log line, and the headers of every response;
 * 4. `errorResponse` turns whatever is thrown into a status and a body;
 * 5. requests that did not come through the front door get a 404;
 * 6. requests that a page of another site may have sent get a 403, before a cookie is looked at; no page can send an admin key;
 * 7. the session or the admin key is read, unless the operation is public, and its role compared with the operation's;
 * 8. unknown query parameters are refused, the body is parsed, and the cursor of a list is opened;
 * 9. the operation responds.
 */
export function adminHandler(
  name: AdminFunction,
  operations: readonly ServedOperation[],
  { openTable: open = once(openTable) }: AdminContext = {},
): Handler {
  const site = once(currentSite)
  const handlers = operations.map((row) => ({ row, handle: chain(row.operation).handler(served(row)) }))
  const nowhere = chain(`${name}-fallback`).handler(refuse)
  return async (event, context) => {
    for (const { row, handle } of handlers) {
      const pathParameters = row.method === event.httpMethod ? matchPath(row.path, event.path) : undefined
      if (pathParameters !== undefined) {
        return await handle({ ...withSafeId(event, context), pathParameters }, context)
      }
    }
    return await nowhere(event, context)
  }

  function served(row: ServedOperation): Handler {
    return async (event, context) => {
      await requireFrontDoor(event)
      const isByKey = row.access !== 'public' && hasBearer(event)
      if (isByKey && name === 'sign-in') {
        throw new ForbiddenError(OF_SESSIONS)
      }
      if (!isByKey) {
        requireSameSite(event, site())
      }
      if (row.access !== 'public') {
        const found = await requireSession(event, row, { site: site(), table: open, isByKey })
        event.session = found.session
        event.askedTenant = found.tenant
      }
      checkQuery(event, row)
      event.json = await readAdminBody(event)
      return resultOf(await responseTo(event, row, context), row)
    }
  }
}

/** What seals cursors is loaded with the first list. */
async function responseTo(event: ApiEvent, row: ServedOperation, context: Context): Promise<AdminResponse> {
  if (!row.query?.includes('after')) {
    return await row.serve(event, context)
  }
  const { servePage } = await import('./sealed-cursor.ts')
  return await servePage(event, row, (page) => row.serve(page, context))
}

/** Log and audit use the id of the response. An id of the client that is no token is replaced. */
function withSafeId(event: ApiEvent, context: Context): ApiEvent {
  return { ...event, requestContext: { ...event.requestContext, requestId: requestIdOf(event, context) } }
}

function chain(operation: string) {
  return middy<ApiEvent, ApiResult>()
    .use(countedFailures('console_failed'))
    .use(neverStored())
    .use(requestLog(operation))
    .use(errorResponse())
}

/** Names the methods of other functions too. @throws RouteNotFoundError, MethodNotAllowedError. */
async function refuse(event: ApiEvent): Promise<ApiResult> {
  await requireFrontDoor(event)
  const methods = (await import('./admin-methods.ts')).methodsAt(event.path)
  throw methods ? new MethodNotAllowedError(methods, event.httpMethod) : new RouteNotFoundError()
}

function resultOf(
  { status, body, headers = {}, cookies = [] }: AdminResponse,
  { successStatus }: AdminRoute,
): ApiResult {
  const type = typeof body === 'object' ? { 'content-type': 'application/json' } : {}
  return {
    statusCode: status ?? successStatus,
    headers: { ...type, ...headers },
    ...(cookies.length === 0 ? {} : { multiValueHeaders: { 'set-cookie': [...cookies] } }),
    body: typeof body === 'object' ? JSON.stringify(body) : (body ?? ''),
  }
}

/** What an operation of the admin API responds. */
export type AdminResponse = {
  /** Left out for the success of the row; an error is thrown, unless people see its page. */
  readonly status?: number
  /** An object is sent as JSON, a string as it is; left out for no body. */
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** `Set-Cookie` headers. */
  readonly cookies?: readonly string[]
}

/** The signed-in user. @throws MiddlewareOrderError for an operation that anybody may call. */
export function sessionOf({ session }: ApiEvent): Session {
  if (session === undefined) {
    throw new MiddlewareOrderError('an operation without a session has no signed-in user')
  }
  return session
}

/** The signed-in user, for the audit log. @throws MiddlewareOrderError as {@link sessionOf}. */
export function actorOf(event: ApiEvent): Actor {
  const { actor, role } = sessionOf(event)
  return { name: actor, role, requestId: event.requestContext.requestId }
}
