import type { ServerResponse } from 'node:http'
import { VERSION } from '#core/version.ts'

/** Tells that the process serves. The front door sends this path to the API, so only who waits for the process asks for it. */
export const HEALTH_PATH = '/health'

/** Says that the process serves, and its version. */
export function respondToHealth(response: ServerResponse): void {
  const body = JSON.stringify({ status: 'ok', version: VERSION })
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
    })
    .end(body)
}
