import { type ApiEvent, type ApiResult, headerOf, jsonResult } from '#middleware/api-event.ts'
import { publicHandler } from '#middleware/public-handler.ts'
import { readDocument } from './read-document.ts'
import { serverUrl } from './server-url.ts'

/** What the address in the document is made of, besides the path: a cache may answer for one host what another one asked. */
const VARY = 'host, x-forwarded-proto'

/** A document changes with a deployment only; five minutes after one every cache has the new one. */
const CACHE_CONTROL = 'public, max-age=300'

/** GET /openapi.json: the document of the deployed version as it is committed, with the address that it was asked at as its server. */
export const handler = publicHandler('get-openapi-document', async (event) => {
  const { text, etag } = readDocument(serverUrl(event))
  const caching = { 'cache-control': CACHE_CONTROL, vary: VARY, etag }
  if (hasAlready(event, etag)) {
    return { statusCode: 304, headers: caching, body: '' } satisfies ApiResult
  }
  const answer = jsonResult(200, text)
  return { ...answer, headers: { ...answer.headers, ...caching } }
})

/** `If-None-Match` is a list of tags, which a cache on the way may have weakened, or a star (RFC 9110, 13.1.2). */
function hasAlready(event: ApiEvent, etag: string): boolean {
  const tags = headerOf(event, 'if-none-match')?.split(',') ?? []
  return tags.some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
