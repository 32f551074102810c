import { type ApiEvent, type ApiResult, headerOf, jsonResult } from '#middleware/api-event.ts'
import { handlerChain } from '#middleware/handler-chain.ts'
import { readDocument, serverUrl } from './read-document.ts'

/** The address in the document depends on these headers: a cache must not give one host the document of another. */
const VARY = 'host, x-forwarded-proto'

/** The document changes with a deployment only; five minutes later every cache has the new one. */
const CACHE_CONTROL = 'public, max-age=300'

/** GET /openapi.json: the document of the deployed version, with the address of the request as its server. */
export const handler = handlerChain({ operation: 'get-openapi-document' }).handler(async (event) => {
  const { text, etag } = readDocument(serverUrl(event))
  const caching = { 'cache-control': CACHE_CONTROL, vary: VARY, etag }
  if (hasAlready(event, etag)) {
    return { statusCode: 304, headers: caching, body: '' } satisfies ApiResult
  }
  const response = jsonResult(200, text)
  return { ...response, headers: { ...response.headers, ...caching } }
})

/** `If-None-Match` is a list of tags, which a cache may have weakened, or a star (RFC 9110, 13.1.2). */
function hasAlready(event: ApiEvent, etag: string): boolean {
  const tags = headerOf(event, 'if-none-match')?.split(',') ?? []
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
