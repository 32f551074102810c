import type { IncomingMessage, ServerResponse } from 'node:http'
import type { APIGatewayProxyResult } from 'aws-lambda'
import { matchPath, ROUTES } from '#core/contract/routes.ts'
import { FUNCTION_TIMEOUT_SECONDS } from '../config/function-timeouts.ts'
import { toGatewayEvent } from './api-gateway-event.ts'
import { invokeFunction, type LocalFunction } from './lambda-runtime.ts'
import { BodyTooLargeError, readBody } from './read-body.ts'

/** API Gateway refuses larger requests itself, in the one shape that it has. */
const REQUEST_BYTES_MAX = 10 * 1024 * 1024

type Endpoint = { readonly resource: string; readonly method: string; readonly target: LocalFunction }

const ENDPOINTS: readonly Endpoint[] = ROUTES.map(({ operation, method, path }) => ({
  resource: path,
  method,
  target: apiFunction(operation),
}))

const FALLBACK = apiFunction('fallback')

function apiFunction(operation: string): LocalFunction {
  return {
    name: operation,
    timeoutSeconds: FUNCTION_TIMEOUT_SECONDS.api,
    load: () => import(`#lambdas/api/${operation}/handler.ts`),
  }
}

/** Loads every handler of the API, so that no first request pays for it. */
export async function loadApiHandlers(): Promise<void> {
  await Promise.all([...ENDPOINTS.map(({ target }) => target.load()), FALLBACK.load()])
}

/** Answers one request as API Gateway would: the route's function, or the fallback for unknown paths and methods. */
export async function answerApiRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(`http://local${request.url ?? '/'}`)
  const endpoint = ENDPOINTS.find(
    ({ method, resource }) => method === request.method && matchPath(resource, url.pathname),
  )
  const target = endpoint?.target ?? FALLBACK
  try {
    const event = toGatewayEvent({
      request,
      url,
      resource: endpoint?.resource ?? '/{proxy+}',
      pathParameters:
        endpoint === undefined
          ? { proxy: url.pathname.slice(1) }
          : (matchPath(endpoint.resource, url.pathname) ?? null),
      body: await readBody(request, REQUEST_BYTES_MAX),
    })
    sendResult(await invokeFunction(target, event), response)
  } catch (error) {
    if (error instanceof BodyTooLargeError) {
      sendGatewayError(response, { status: 413, message: 'request body too large', code: 'request_body_too_large' })
      return
    }
    sendGatewayError(response, { status: 500, message: 'internal error', code: null })
  }
}

function isProxyResult(result: unknown): result is APIGatewayProxyResult {
  return typeof result === 'object' && result !== null && 'statusCode' in result && 'body' in result
}

function sendResult(result: unknown, response: ServerResponse): void {
  if (!isProxyResult(result)) {
    sendGatewayError(response, { status: 502, message: 'internal error', code: null })
    return
  }
  const body = Buffer.from(result.body, result.isBase64Encoded ? 'base64' : 'utf8')
  for (const [name, value] of Object.entries(result.headers ?? {})) {
    response.setHeader(name, String(value))
  }
  response.writeHead(result.statusCode, { 'content-length': body.length }).end(body)
}

/** What API Gateway itself refuses has one shape, the OpenAI one; the rest of a refused body is not read. */
function sendGatewayError(
  response: ServerResponse,
  { status, message, code }: { status: number; message: string; code: string | null },
): void {
  const type = status >= 500 ? 'server_error' : 'invalid_request_error'
  const body = JSON.stringify({ error: { message, type, param: null, code } })
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body)
}
