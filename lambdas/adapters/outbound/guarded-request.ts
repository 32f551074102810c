import type { LookupAddress } from 'node:dns'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { isGlobalUnicast } from './global-address.ts'
import { type OutboundNetwork, systemNetwork } from './outbound-network.ts'

/** Time for name, TCP and TLS together; a host that is there takes well under one second. */
const CONNECT_MILLISECONDS = 5_000

/** The guard said no: nothing was sent, and trying again will not help. The message never holds a path or query. */
export class RequestRefusedError extends Error {
  override readonly name = 'RequestRefusedError'
}

/** The name, the connection, TLS or the answer failed. The message never holds a path or query. */
export class RequestFailedError extends Error {
  override readonly name = 'RequestFailedError'
}

/** One request to a url that came from outside. */
export type GuardedRequest = {
  readonly url: URL
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  /** The operator named this origin: plain http and private addresses are fine. Everything else is https to public hosts. */
  readonly isTrustedOrigin: boolean
  /** From the open connection to the head of the answer. */
  readonly answerMilliseconds: number
  readonly signal?: AbortSignal | undefined
} & Partial<OutboundNetwork>

/**
 * Sends one request over one connection of its own and gives the answer as it comes, redirects included.
 * The name is resolved once, every address is checked, the connection goes to a checked address, and not one byte is written
 * before the connected address was checked too. TLS certificates are always verified.
 * @throws RequestRefusedError when the guard says no; RequestFailedError for everything that the network does.
 */
export async function sendGuardedRequest(command: GuardedRequest): Promise<IncomingMessage> {
  checkUrl(command.url, command.isTrustedOrigin)
  try {
    const socket = await openSocket(command)
    return await exchange(socket, command)
  } catch (error) {
    if (error instanceof RequestRefusedError || error instanceof RequestFailedError) {
      throw error
    }
    throw new RequestFailedError(describeFailure(error, command.signal), { cause: error })
  }
}

/** The part of the guard that needs no network; an address in the url is checked here, because no lookup will see it. */
function checkUrl(url: URL, isTrustedOrigin: boolean): void {
  if (url.protocol !== 'https:' && !(isTrustedOrigin && url.protocol === 'http:')) {
    throw new RequestRefusedError('only https is allowed')
  }
  if (url.username !== '' || url.password !== '') {
    throw new RequestRefusedError('a user name or password in the url is not allowed')
  }
}

/** Resolves a host once. All answers must be public: a name with one private address is not trusted with the others. */
async function resolveChecked(command: GuardedRequest): Promise<readonly LookupAddress[]> {
  const hostname = bareHostname(command.url)
  const family = isIP(hostname)
  const resolve = command.resolve ?? systemNetwork.resolve
  const addresses = family === 0 ? await resolve(hostname) : [{ address: hostname, family }]
  if (addresses.length === 0) {
    throw new RequestFailedError('the host name has no address')
  }
  if (!command.isTrustedOrigin && !addresses.every(({ address }) => isGlobalUnicast(address))) {
    throw new RequestRefusedError('the host has an address that is not public')
  }
  return addresses
}

async function openSocket(command: GuardedRequest): Promise<Socket> {
  const { url, isTrustedOrigin, signal } = command
  const timeout = AbortSignal.timeout(CONNECT_MILLISECONDS)
  const deadline = signal === undefined ? timeout : AbortSignal.any([timeout, signal])
  const addresses = await untilAborted(resolveChecked(command), deadline)
  const isTls = url.protocol === 'https:'
  const port = url.port === '' ? defaultPort(url) : Number(url.port)
  const dial = command.dial ?? systemNetwork.dial
  const socket = dial({ hostname: bareHostname(url), port, isTls, addresses })
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal: deadline })
    if (!isTrustedOrigin && !isGlobalUnicast(socket.remoteAddress ?? '')) {
      throw new RequestRefusedError('the connection went to an address that is not public')
    }
    return socket
  } catch (error) {
    // A late error of a socket that nobody waits for any more must not end the process.
    socket.on('error', () => {})
    socket.destroy()
    throw error
  }
}

function exchange(socket: Socket, command: GuardedRequest): Promise<IncomingMessage> {
  const { url, method, headers, body, signal, answerMilliseconds } = command
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      // With a connection of our own no agent takes part: no pool, no keep-alive, no proxy.
      createConnection: () => socket,
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...headers, host: url.host },
      ...(signal === undefined ? {} : { signal }),
    })
    const timer = setTimeout(() => request.destroy(new RequestFailedError('no answer in time')), answerMilliseconds)
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error)
    }
    request.once('response', (response) => {
      clearTimeout(timer)
      // Whoever reads the answer hears its errors; one that comes before that must not end the process.
      response.on('error', () => {})
      resolve(response)
    })
    request.on('error', fail)
    // A change of protocol (101) is neither an answer nor an error, and a closed request hears no timer and no signal.
    request.once('close', () => fail(new RequestFailedError('the connection closed without an answer')))
    request.end(body)
  })
}

/** Gives up waiting when the signal fires; a name look-up itself cannot be called back. */
async function untilAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const settled = new AbortController()
  const aborted = once(signal, 'abort', { signal: settled.signal }).then(() => Promise.reject(signal.reason))
  // Whichever loses the race may reject later, unheard.
  aborted.catch(() => {})
  promise.catch(() => {})
  try {
    return await Promise.race([promise, aborted])
  } finally {
    settled.abort()
  }
}

/** `[::1]` is `::1` to everything but a url. */
function bareHostname(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '')
}

function defaultPort(url: URL): number {
  return url.protocol === 'https:' ? 443 : 80
}

/** Error codes say enough; messages may quote more of a url than a log should hold. */
function describeFailure(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted === true) {
    return 'the time for the whole request is over'
  }
  if (typeof error !== 'object' || error === null) {
    return 'the request failed'
  }
  if ('name' in error && (error.name === 'AbortError' || error.name === 'TimeoutError')) {
    return 'no connection in time'
  }
  return 'code' in error && typeof error.code === 'string' ? `the network said ${error.code}` : 'the request failed'
}
