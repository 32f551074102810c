import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { parseJsonObject } from '#core/json/json-object.ts'
import { environmentVariable } from '../environment.ts'
import { once } from '../once.ts'
import { type AwsServiceName, awsEndpoint } from './aws-endpoint.ts'
import { AwsConnectionError, AwsServiceError } from './aws-service-error.ts'
import { type AwsCredentials, signRequest } from './sign-request.ts'

/** One operation of a service that speaks JSON. */
export type AwsCall = {
  readonly service: AwsServiceName
  /** `X-Amz-Target`, such as `DynamoDB_20120810.GetItem`. */
  readonly target: string
  /** JSON. The request may be sent twice, so the operation must be safe to repeat: a read, a write with a token, or an update that may count twice. */
  readonly body: string
}

/** Calls a service and gives the parsed answer; see {@link callAwsService}. */
export type CallAws = (call: AwsCall) => Promise<Readonly<Record<string, unknown>>>

/** TCP within a region takes a few milliseconds. */
const CONNECT_MILLISECONDS_MAX = 1_000

/** From the call to the last byte: far above what a healthy service takes, and a client waits for it. */
const ANSWER_MILLISECONDS_MAX = 3_000

/** The protocol of each service: `application/x-amz-json-1.0` or `1.1` (their API references, "Making requests"). */
const CONTENT_TYPES = {
  dynamodb: 'application/x-amz-json-1.0',
  secretsmanager: 'application/x-amz-json-1.1',
} as const

/** Agents of our own: those of the process may obey proxy variables of the environment. */
const httpAgent = once(() => new HttpAgent({ keepAlive: true }))
const httpsAgent = once(() => new HttpsAgent({ keepAlive: true }))

/**
 * Calls one operation of an AWS service over a kept connection, signed with the credentials of the environment, which
 * is read anew for each call. A connection that the service closed while it was idle is replaced without a word.
 * @throws AwsServiceError what the service answered when it refused or failed.
 * @throws AwsConnectionError when no whole answer came; the service may have done its work.
 * @throws MissingEnvironmentError without region or credentials.
 */
export async function callAwsService(call: AwsCall): Promise<Readonly<Record<string, unknown>>> {
  const first = await exchange(call, 'kept')
  const { status, requestId, text } = first === 'stale' ? await exchangeAfresh(call) : first
  const body = parseJsonObject(text)
  if (status !== 200) {
    throw new AwsServiceError(status, requestId, body)
  }
  if (body === undefined) {
    throw new AwsConnectionError('the answer is not JSON')
  }
  return body
}

type Answer = { readonly status: number; readonly requestId: string | undefined; readonly text: string }

async function exchangeAfresh(call: AwsCall): Promise<Answer> {
  const second = await exchange(call, 'fresh')
  if (second === 'stale') {
    throw new AwsConnectionError('the connection broke')
  }
  return second
}

const STALE_CONNECTION_CODES: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE'])

/** @returns `stale` when a connection that was used before broke before an answer began. */
function exchange(call: AwsCall, connection: 'kept' | 'fresh'): Promise<Answer | 'stale'> {
  return new Promise((resolve, reject) => {
    const sent = openRequest(call, connection)
    const timers = boundTime(sent)
    let isAnswering = false
    let isSettled = false
    const settle = (done: () => void) => {
      isSettled = true
      timers.clear()
      done()
    }
    const fail = (error: Error & { code?: unknown }) => {
      const isStale = !isAnswering && sent.reusedSocket && STALE_CONNECTION_CODES.has(error.code)
      settle(() => (isStale ? resolve('stale') : reject(connectionError(error))))
    }
    sent.on('error', fail)
    // A change of protocol (101) is neither an answer nor an error.
    sent.on('close', () => {
      if (!isSettled) {
        fail(new AwsConnectionError('the connection closed without an answer'))
      }
    })
    sent.on('response', (response: IncomingMessage) => {
      isAnswering = true
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', fail)
      response.on('end', () => settle(() => resolve(readAnswer(response, chunks))))
    })
    sent.end(call.body)
  })
}

function openRequest({ service, target, body }: AwsCall, connection: 'kept' | 'fresh'): ClientRequest {
  const { region, url } = awsEndpoint(service)
  const unsigned = { host: url.host, 'content-type': CONTENT_TYPES[service], 'x-amz-target': target }
  const scope = { service, region, credentials: readCredentials(), nowMilliseconds: Date.now() }
  const options = {
    method: 'POST',
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    headers: { ...signRequest({ headers: unsigned, body }, scope), 'content-length': Buffer.byteLength(body) },
  }
  return url.protocol === 'http:'
    ? httpRequest({ ...options, agent: connection === 'kept' ? httpAgent() : false })
    : httpsRequest({ ...options, agent: connection === 'kept' ? httpsAgent() : false })
}

/** Lambda hands over the credentials of a function's role in these. */
function readCredentials(): AwsCredentials {
  return {
    accessKeyId: environmentVariable('AWS_ACCESS_KEY_ID'),
    secretAccessKey: environmentVariable('AWS_SECRET_ACCESS_KEY'),
    sessionToken: process.env.AWS_SESSION_TOKEN || undefined,
  }
}

function boundTime(sent: ClientRequest): { clear(): void } {
  const giveUp = () => sent.destroy(new AwsConnectionError('no answer in time'))
  const answerTimer = setTimeout(giveUp, ANSWER_MILLISECONDS_MAX)
  let connectTimer: NodeJS.Timeout | undefined
  sent.once('socket', (socket) => {
    if (socket.connecting) {
      connectTimer = setTimeout(
        () => sent.destroy(new AwsConnectionError('no connection in time')),
        CONNECT_MILLISECONDS_MAX,
      )
      socket.once('connect', () => clearTimeout(connectTimer))
    }
  })
  return {
    clear() {
      clearTimeout(answerTimer)
      clearTimeout(connectTimer)
    },
  }
}

function readAnswer(response: IncomingMessage, chunks: readonly Buffer[]): Answer {
  const requestId = response.headers['x-amzn-requestid']
  return {
    status: response.statusCode ?? 0,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    text: Buffer.concat(chunks).toString('utf8'),
  }
}

function connectionError(cause: Error & { code?: unknown }): Error {
  return cause instanceof AwsConnectionError
    ? cause
    : new AwsConnectionError(`the connection failed: ${String(cause.code ?? cause.name)}`, { cause })
}
