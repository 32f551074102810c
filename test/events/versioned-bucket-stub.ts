import { type HttpServer, listen } from '#adapters/http-server/http-server.ts'
import { readBody } from '#adapters/http-server/read-body.ts'

/** Above the archive of the relay server. */
const REQUEST_BYTES_MAX = 20_000_000

/** As much of a bucket with versions as the code of the relay server needs, which the local engine lacks. An object is written once. */
export function startVersionedBucketStub(objects: Map<string, Buffer>): Promise<HttpServer> {
  return listen(async (request, response) => {
    const body = await readBody(request, REQUEST_BYTES_MAX)
    const key = new URL(request.url ?? '', 'http://stub').pathname.split('/').slice(2).join('/')
    const isThere = objects.has(key)
    if (request.method === 'PUT' && !isThere) {
      objects.set(key, body)
    } else if (request.method === 'PUT' || !isThere) {
      response.writeHead(isThere ? 412 : 404).end()
      return
    }
    response.writeHead(200, { 'x-amz-version-id': 'version-1' }).end()
  }, 0)
}
