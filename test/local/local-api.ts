import { type IncomingHttpHeaders, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { expect } from '@jest/globals'
import type { APIGatewayProxyEvent, StreamifyHandler } from 'aws-lambda'
import { ApiFront } from '#local/api-front.ts'
import { listen } from '#platform/http-server/http-server.ts'

type StreamHandler = StreamifyHandler<APIGatewayProxyEvent, void>

/** One function behind the front, with what a test wants it to be. */
export type OneFunction = {
  handler?: unknown
  streamHandler?: StreamHandler
  /** Whether the handler was forgotten to be wrapped. */
  isPlain?: boolean
  timeoutSeconds?: number
}

export type Answer = {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** False when the connection ended inside the answer. */
  readonly isWhole: boolean
}

/** The front of the local host over one function, whose handlers a test sets; every path leads to it. */
export async function startLocalApi(shared: ConstructorParameters<typeof ApiFront>[1] = {}) {
  const one: { function: OneFunction } = { function: {} }
  const front = new ApiFront(() => {
    const { handler, streamHandler, isPlain = false, timeoutSeconds = 5 } = one.function
    const load = async () => ({
      handler,
      streamHandler: streamHandler && !isPlain ? awslambda.streamifyResponse(streamHandler) : streamHandler,
    })
    return {
      resource: '/v1/things',
      pathParameters: null,
      streams: streamHandler !== undefined,
      target: { name: 'things', timeoutSeconds, load },
    }
  }, shared)
  const server = await listen((incoming, response) => void front.serve(incoming, response), 0)
  return {
    port: server.port,
    front,
    serve: (served: OneFunction) => {
      one.function = served
    },
    post: (body: string | Buffer = '{}', path = '/v1/things') => post(server.port, path, body),
    open: () => open(server.port),
    close: () => server.close(),
  }
}

function post(port: number, path: string, body: string | Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sending = request({ port, path, method: 'POST', agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk) => chunks.push(chunk))
      // A cut answer errs, and closes like any other.
      response.on('error', () => undefined)
      response.on('close', () => {
        const { statusCode: status, headers, complete: isWhole } = response
        resolve({ status, headers, text: Buffer.concat(chunks).toString(), isWhole })
      })
    })
    sending.on('error', reject)
    sending.end(body)
  })
}

/** A connection that has sent a request and reads nothing by itself. */
async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('POST /v1/things HTTP/1.1\r\nhost: local\r\ncontent-length: 2\r\n\r\n{}')
  return socket
}

/** A handler of a plain answer: head, body, end. */
export function answering(metadata: Record<string, unknown>, ...body: readonly string[]): StreamHandler {
  return async (_event, responseStream) => {
    const stream = awslambda.HttpResponseStream.from(responseStream, metadata)
    stream.write('')
    for (const each of body) {
      stream.write(each)
    }
    stream.end()
  }
}

/** An answer that API Gateway made itself, as `refused` describes it. */
export function refusal({ status, headers, text }: Answer) {
  return { status, requestId: headers['x-request-id'], type: headers['content-type'], body: JSON.parse(text) }
}

/** What API Gateway says when it has nothing to pass on, with the id of the request. */
export function refused(status: number, message: string, type: string, code: string | null) {
  return {
    status,
    requestId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
    type: 'application/json',
    body: { error: { message, type, param: null, code } },
  }
}
