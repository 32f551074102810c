/** An error that API Gateway, or an HTTP server in its place, responds with itself. */
export type GatewayError = { readonly status: number; readonly message: string; readonly code: string | null }

/** Malformed HTTP, or whatever else is the client's. */
export const REQUEST_REFUSED: GatewayError = { status: 400, message: 'request refused', code: null }

/** The request is larger than 10 MB. */
export const REQUEST_TOO_LARGE: GatewayError = {
  status: 413,
  message: 'request body too large',
  code: 'request_body_too_large',
}

/** A function failed. */
export const INTERNAL_ERROR: GatewayError = { status: 500, message: 'internal error', code: null }

/** The error in the shape of OpenAI, as JSON. */
export function gatewayErrorBody({ status, message, code }: GatewayError): string {
  const type = status >= 500 ? 'server_error' : status === 429 ? 'rate_limit_error' : 'invalid_request_error'
  return JSON.stringify({ error: { message, type, param: null, code } })
}

/** Who called, as API Gateway tells functions, where only the connection is known. */
export const NO_IDENTITY = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  user: null,
  userArn: null,
} as const
