import type { IncomingHttpHeaders } from 'node:http'

/** Whether the request has the expected bearer token, or any token if none is expected. */
export function hasBearer(headers: IncomingHttpHeaders, expected: string | undefined): boolean {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  return token !== undefined && (expected === undefined || token === expected)
}
