import { request as sendRequest } from 'node:http'
import { type Loopback, listenHttp } from '../adapters/outbound/loopback.ts'
import type { CostMeter } from './cost-meter.ts'

/** Stands between the bucket's clients and its engine, and meters each request. */
export async function startMeteredBucket(engineUrl: string, meter: CostMeter): Promise<Loopback> {
  const { hostname, port } = new URL(engineUrl)
  return await listenHttp((request, response) => {
    const { method = '', url = '', headers } = request
    meter.addRequest(operationOf(method, new URL(url, engineUrl).searchParams))
    // The host header stays as it was signed.
    const onward = sendRequest({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
  })
}

const PLAIN: Readonly<Record<string, string>> = { GET: 'GetObject', PUT: 'PutObject', DELETE: 'DeleteObject' }
const OF_PARTS: Readonly<Record<string, string>> = { PUT: 'UploadPart', POST: 'CompleteMultipartUpload' }

function operationOf(method: string, query: URLSearchParams): string {
  const names = query.has('uploadId') ? OF_PARTS : PLAIN
  return query.has('uploads') ? 'CreateMultipartUpload' : (names[method] ?? method)
}
