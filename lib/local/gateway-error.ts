import type { ServerResponse } from 'node:http'

/** An answer that API Gateway makes itself. */
type GatewayError = { readonly status: number; readonly message: string; readonly code: string | null }

/** API Gateway refuses larger requests. */
export const REQUEST_TOO_LARGE: GatewayError = {
  status: 413,
  message: 'request body too large',
  code: 'request_body_too_large',
}

/** A function failed. */
export const INTERNAL_ERROR: GatewayError = { status: 500, message: 'internal error', code: null }

/** What a function answered is no answer. */
export const BAD_ANSWER: GatewayError = { ...INTERNAL_ERROR, status: 502 }

/** What API Gateway itself refuses has one shape, the OpenAI one, under the request's id; the rest of a refused body is not read. */
export function sendGatewayError(response: ServerResponse, requestId: string, error: GatewayError): void {
  const { status, message, code } = error
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  const body = JSON.stringify({ error: { message, type, param: null, code } })
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': requestId,
    connection: 'close',
  }
  response.writeHead(status, headers).end(body)
}
