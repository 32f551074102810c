import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DOCUMENT_SERVER } from '#core/api/paths.ts'
import { FRONT_DOOR_HEADER } from '#core/http.ts'
import { VERSION } from '#core/version.ts'
import { type ApiEvent, type ApiResult, headerOf, jsonResult } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { sharedHandler } from '#middleware/shared-handler.ts'
import { once } from '#platform/cache.ts'
import { sha256Hex } from '#platform/crypto.ts'
import { getHealth, getOpenapiDocument } from '#routes/service.ts'

/**
 * Says that the API and its functions run, and their version. It reads nothing behind them, so that a call costs one invocation, whoever makes
 * it; alarms watch the rest.
 */
const health = handlerChain(getHealth).handler(async () =>
  withHeaders(jsonResult(200, JSON.stringify({ status: 'ok', version: VERSION })), { 'cache-control': 'no-store' }),
)

/** The address in the document depends on these headers: a cache must not give one host the document of another. */
const VARY = 'host, x-forwarded-proto'

/** The document changes with a deployment only; five minutes later every cache has the new one. */
const CACHE_CONTROL = 'public, max-age=300'

/** The document of the deployed version, with the address of the request as its server. */
const openapiDocument = handlerChain(getOpenapiDocument).handler(async (event) => {
  const { text, etag } = readDocument(serverUrl(event))
  const caching = { 'cache-control': CACHE_CONTROL, vary: VARY, etag }
  return hasAlready(event, etag)
    ? { statusCode: 304, headers: caching, body: '' }
    : withHeaders(jsonResult(200, text), caching)
})

/** `If-None-Match` is a list of tags, which a cache may have weakened, or a star (RFC 9110, 13.1.2). */
function hasAlready(event: ApiEvent, etag: string): boolean {
  const tags = headerOf(event, 'if-none-match')?.split(',') ?? []
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}

function withHeaders(result: ApiResult, headers: Readonly<Record<string, string>>): ApiResult {
  return { ...result, headers: { ...result.headers, ...headers } }
}

/** The OpenAPI document as it is served, and a strong entity tag of its bytes. */
type OpenapiDocument = { readonly text: string; readonly etag: string }

/** Half of the digest tells two versions of a document apart. */
const ETAG_CHARACTERS = 32

/** Read once per process. @throws the error of the file system when the deployment has no such file. */
const readFile: () => string = once(() => {
  const file = process.env.OPENAPI_FILE ?? join(process.env.LAMBDA_TASK_ROOT ?? '.', 'openapi.json')
  return readFileSync(file, 'utf8')
})

/**
 * The file that lies beside the code, with this server in place of its own; as it is without one.
 * @throws the error of the file system when the deployment has no such file.
 */
function readDocument(serverUrl: string = DOCUMENT_SERVER): OpenapiDocument {
  const text = readFile().replace(JSON.stringify(DOCUMENT_SERVER), () => JSON.stringify(serverUrl))
  return { text, etag: `"${sha256Hex(text).slice(0, ETAG_CHARACTERS)}"` }
}

/** A name or an address, with a port or without: whatever else a client may write into its Host header is left out. */
const HOST = /^(\[[0-9a-f:]+\]|[\w.-]+)(:\d{1,5})?$/i

/** API Gateway's own name for an API has the stage in front of each path, a name of the operator's has not. */
const DOCUMENT_PATH = /^((?:\/[\w.~-]+)*)\/openapi\.json$/

/**
 * Where the request reached this API, such as `https://abc123defg.execute-api.eu-west-1.amazonaws.com/live`, without a slash
 * at the end; the address of the front door (`CONSOLE_ORIGIN`) for a request through it, whose host is the API's own. Undefined when the
 * request does not say.
 */
function serverUrl(event: Pick<ApiEvent, 'headers' | 'requestContext'>): string | undefined {
  const [frontDoor] = (process.env.CONSOLE_ORIGIN ?? '').split(' ')
  if (frontDoor && headerOf(event, FRONT_DOOR_HEADER) !== undefined) {
    return frontDoor
  }
  const host = headerOf(event, 'host')
  const path = DOCUMENT_PATH.exec(event.requestContext?.path ?? '')?.[1]
  if (host === undefined || !HOST.test(host) || path === undefined) {
    return undefined
  }
  // API Gateway always says https; a local host has no TLS and nothing in front of it.
  const scheme = headerOf(event, 'x-forwarded-proto') === 'https' ? 'https' : 'http'
  return `${scheme}://${host}${path}`
}

/** What needs no key; the preflights of browsers where the configuration allows origins; on the local host also unknown paths and methods. */
export const handler = sharedHandler(
  [
    [getHealth, health],
    [getOpenapiDocument, openapiDocument],
  ],
  async (event, context) => (await import('./fallback.ts')).fallback(event, context),
)
