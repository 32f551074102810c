import type { ServerResponse } from 'node:http'
import { RELEASE_HEADER } from '#core/cdn/front-door.ts'
import { VERSION } from '#core/version.ts'

/** The path of the check. The front door sends it to the API, so that only the check of a deployment asks the relay server. */
export const HEALTH_PATH = '/health'

/** Says that the process serves, its version, and its release (`RELEASE`): which of several deployed revisions responds. */
export function answerHealth(response: ServerResponse): void {
  const body = JSON.stringify({ status: 'ok', version: VERSION })
  const { RELEASE: release } = process.env
  response
    .writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      'cache-control': 'no-store',
      ...(release ? { [RELEASE_HEADER]: release } : {}),
    })
    .end(body)
}
